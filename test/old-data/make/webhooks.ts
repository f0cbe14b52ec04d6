import { type TestApplication } from "../../setup/factories.ts";
import { ok, status, type Behaviour } from "../../webhooks/receiver.ts";
import { dataOf, type Known } from "./known.ts";
import { MINUTE } from "./posts.ts";
import { dieOver, type OldWorld } from "./world.ts";

const down = status(500, {}, "not today");

export class Webhooks {
  readonly #world: OldWorld;
  readonly #known: Known;
  readonly #application: TestApplication;

  constructor(world: OldWorld, known: Known, application: TestApplication) {
    this.#world = world;
    this.#known = known;
    this.#application = application;
  }

  get #key() {
    return { key: this.#application.key };
  }

  async add(name: string, behaviour: Behaviour, events: readonly string[] = ["webhook.test"]) {
    const { relay, receiver } = this.#world;
    const path = `/old/${name}`;
    receiver.behave(path, behaviour);
    const body = { url: receiver.url(path), events, description: name };
    const { id, secret } = dataOf(await relay.call("POST", "/v1/webhooks", { ...this.#key, body }));
    this.#known.webhooks[name] = { id, path, secrets: [secret] };
    return String(id);
  }

  /** Tells each of them so many times. */
  async test(id: string, times = 1): Promise<void> {
    for (let nth = 0; nth < times; nth += 1) await this.testUnheard(id);
    await this.#world.relay.drain();
  }

  /** Its message stays in the queue. */
  async testUnheard(id: string): Promise<void> {
    dataOf(await this.#world.relay.call("POST", `/v1/webhooks/${id}/test`, this.#key));
  }

  known(name: string) {
    return this.#known.webhooks[name];
  }

  async rotate(name: string): Promise<void> {
    const endpoint = this.#known.webhooks[name];
    if (endpoint === undefined) throw new Error(`${name} is unknown`);
    const path = `/v1/webhooks/${endpoint.id}/rotate-secret`;
    const { secret } = dataOf(await this.#world.relay.call("POST", path, this.#key));
    this.#known.webhooks[name] = { ...endpoint, secrets: [secret, ...endpoint.secrets] };
  }

  async change(id: string, body: object): Promise<void> {
    dataOf(await this.#world.relay.call("PATCH", `/v1/webhooks/${id}`, { ...this.#key, body }));
  }

  async remove(id: string): Promise<void> {
    dataOf(await this.#world.relay.call("DELETE", `/v1/webhooks/${id}`, this.#key));
  }

  async deliveries(id: string) {
    const path = `/v1/webhooks/${id}/deliveries`;
    return dataOf(await this.#world.relay.call("GET", path, this.#key)) as {
      readonly id: string;
      readonly status: string;
    }[];
  }

  async redrive(id: string, deliveryId: string): Promise<void> {
    const path = `/v1/webhooks/${id}/deliveries/${deliveryId}/redrive`;
    dataOf(await this.#world.relay.call("POST", path, this.#key));
  }
}

async function wait(world: OldWorld, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    world.relay.advance(MINUTE);
    await world.runTimer("hint-due-deliveries");
    await world.relay.drain();
  }
}

/** Endpoints with a past: deliveries that arrived, that are dead, and that were sent once more. */
export async function endedDeliveries(world: OldWorld, webhooks: Webhooks): Promise<void> {
  const steady = await webhooks.add("steady", ok, ["*"]);
  await webhooks.test(steady, 2);
  const dead = await webhooks.add("dead", down);
  const redriven = await webhooks.add("redriven", down);
  for (const id of [dead, redriven]) await webhooks.test(id);
  const gone = await webhooks.add("gone", status(410));
  await webhooks.test(gone);
  const deleted = await webhooks.add("deleted", ok);
  await webhooks.test(deleted);
  await webhooks.remove(deleted);
  await wait(world, 8);
  const [one] = await webhooks.deliveries(redriven);
  if (one?.status !== "dead") throw new Error("nothing to redrive");
  world.receiver.behave("/old/redriven", ok);
  await webhooks.redrive(redriven, one.id);
  await world.relay.drain();
  const disabled = await webhooks.add("disabled", down);
  await webhooks.test(disabled);
  await webhooks.change(disabled, { status: "disabled" });
  await wait(world, 1);
}

/** Does something whose messages of one kind are taken out of the queue, and answers those. */
async function withheld(
  { relay }: OldWorld,
  isMeant: (message: Record<string, unknown>) => boolean,
  run: () => Promise<void>,
): Promise<object[]> {
  const taken: object[] = [];
  relay.queues.onSend = (message) => {
    if (!isMeant({ ...message })) return "keep";
    taken.push(message);
    return "lose";
  };
  try {
    await run();
  } finally {
    relay.queues.onSend = () => "keep";
  }
  return taken;
}

/** Deliveries on their way. Answers a message that nobody heard yet: of a circuit that has just closed. */
export async function openDeliveries(
  world: OldWorld,
  webhooks: Webhooks,
  happen: { readonly canceled: () => Promise<void>; readonly scheduled: () => Promise<void> },
): Promise<object[]> {
  const { relay, receiver } = world;
  const closed = await webhooks.add("closedCircuit", down, ["post.canceled"]);
  await webhooks.test(closed, 5);
  await happen.canceled();
  await relay.drain();
  receiver.behave("/old/closedCircuit", ok);
  const released = await withheld(
    world,
    ({ deliveryId }) => String(deliveryId).startsWith("waiting|"),
    () => webhooks.test(closed),
  );
  const open = await webhooks.add("openCircuit", down, ["post.scheduled"]);
  await webhooks.test(open, 5);
  await happen.scheduled();
  await relay.drain();
  await webhooks.test(await webhooks.add("flaky", down));
  return released;
}

/** Nothing passes after these. */
export async function freshDeliveries(world: OldWorld, webhooks: Webhooks): Promise<void> {
  const rotating = await webhooks.add("rotating", ok);
  await webhooks.test(rotating);
  await webhooks.rotate("rotating");
  const held = await webhooks.add("held", ok);
  const [message] = await withheld(
    world,
    ({ endpointId }) => endpointId === held,
    () => webhooks.test(held),
  );
  if (message === undefined) throw new Error("nothing was queued");
  world.dieAt(({ url }) => (url.endsWith("/old/held") ? "after" : undefined));
  await dieOver(world, "deliver-webhooks", message);
  world.dieAt(undefined);
}

/** Their messages wait in the queue. */
export async function queuedDeliveries(world: OldWorld, webhooks: Webhooks): Promise<void> {
  for (const name of ["queued", "rotating"]) {
    const { id } = webhooks.known(name) ?? { id: await webhooks.add(name, ok) };
    await webhooks.testUnheard(id);
  }
}
