import { charge } from "../../src/shared/billing/charge.ts";
import type { ProfileScope } from "../../src/shared/callers/scope.ts";
import { AppError } from "../../src/shared/errors.ts";
import type { Log } from "../../src/shared/log.ts";
import { cancelPost, updatePost } from "../../src/shared/posts/change-scheduled.ts";
import { createPost } from "../../src/shared/posts/create-post.ts";
import type { Draft } from "../../src/shared/posts/post.ts";
import { retryPost } from "../../src/shared/posts/retry-post.ts";
import type { Services } from "../../src/shared/services.ts";
import { Hosts, type World } from "./hosts.ts";
import { natureOf } from "./machine.ts";
import { THE_PRODUCT, type Mutant } from "./mutant.ts";
import { NetworkModel } from "./network-model.ts";
import { QueueModel } from "./queue-model.ts";
import { Random } from "./random.ts";
import { openWork, violationsOf, watchWallets } from "./rules.ts";
import { TableModel } from "./table-model.ts";
import { createTenants, creditTokens, type Tenant } from "./tenants.ts";
import { inVirtualTime, VirtualTime } from "./virtual-time.ts";
import { FAIR, ratesOf, type Counts } from "./weather.ts";

/** The first run's; every run has hours of its own, so that a seed's ids are the same whenever it is run. */
const EPOCH = Date.parse("2026-03-04T10:00:00.000Z");
const RUN_MS = 4 * 60 * 60_000;
export const SEEDS_OF_ERA = 20_000;

const PROCESSES = 3;
const ASKED_WITHIN_MS = 90_000;
const TROUBLE_MS = 200_000;
/** Of so many runs one has receivers that fail all the time, and for some minutes after the rest is calm. */
const OUTAGE_EVERY = 4;
const OUTAGE_MINUTES_MAX = 15;
const PATIENCE_MS = 30_000;
const TRIES_MAX = 10;
const CHECK_MS = 30_000;
/** Everything has to end within this time after the trouble did. */
const REST_MS_MAX = 3 * 60 * 60_000;
const REFUSALS: ReadonlySet<string> = new Set([
  "insufficient_tokens",
  // Repeated so late that its time has come.
  "validation_failed",
]);

/** One thing that a client wants, and everything that it was told. */
export interface Ask {
  readonly kind: "post" | "charge";
  readonly key: string;
  readonly tenant: Tenant;
  readonly draft: Draft | undefined;
  /** Asked by several at once: what one of them is told says nothing about the others. */
  readonly isParallel: boolean;
  /** Post ids, codes of errors, or `no_answer`. */
  readonly answers: string[];
  readonly postIds: Set<string>;
}

export interface Outcome {
  readonly seed: number;
  readonly counts: Counts;
  readonly violations: readonly string[];
}

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => SILENT,
};

/** One seeded run: clients, processes, networks and a weather that breaks what can break; then calm, and the rules. */
export class Simulation {
  readonly world: World;
  readonly asks: Ask[] = [];
  tenants: readonly Tenant[] = [];
  readonly #seed: number;
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly hosts: Hosts;
  readonly walletViolations: readonly string[];
  #clients = 0;

  constructor(seed: number, mutant: Mutant, log: Log) {
    this.#seed = seed;
    this.#random = new Random(seed * 7_919 + mutant.era);
    this.#time = new VirtualTime(EPOCH + (mutant.era * (SEEDS_OF_ERA + 1) + seed) * RUN_MS);
    const nature = natureOf(this.#time, this.#random);
    const queue = new QueueModel(nature);
    this.world = { nature, queue, model: new TableModel(), networks: new NetworkModel(nature) };
    this.hosts = new Hosts(this.world, mutant, log);
    this.walletViolations = watchWallets(this.world.model);
  }

  async run(): Promise<readonly string[]> {
    return await inVirtualTime(this.#time, this.#random, () => this.#run());
  }

  async #run(): Promise<readonly string[]> {
    const { nature } = this.world;
    this.#skipThePast();
    const first = this.hosts.start();
    const setUp = createTenants(first.services, () => this.#random.pick([15, 60, 150, 300]));
    let isReady = false;
    void setUp.then(() => (isReady = true));
    await this.#time.pass(this.#time.now + CHECK_MS, () => isReady);
    this.tenants = await setUp;
    for (let count = 1; count < PROCESSES; count += 1) this.hosts.start();
    this.hosts.startTimers();
    nature.rates = ratesOf(this.#random);
    this.hosts.excite();
    this.#failReceivers();
    this.#startClients();
    await this.#time.pass(this.#time.now + TROUBLE_MS);
    nature.rates = FAIR;
    this.hosts.calm();
    const until = this.#time.now + REST_MS_MAX;
    while (!this.#isAtRest() && this.#time.now < until)
      await this.#time.pass(this.#time.now + CHECK_MS);
    return violationsOf(this);
  }

  /** By the seed alone: runs of other seeds stay what they are. */
  #failReceivers(): void {
    if (this.#seed % OUTAGE_EVERY !== 0) return;
    const minutes = (this.#seed / OUTAGE_EVERY) % OUTAGE_MINUTES_MAX;
    this.world.networks.receiversDownUntil = this.#time.now + TROUBLE_MS + minutes * 60_000;
    this.world.nature.counts.receiverOutages += 1;
  }

  /** As if the timers had run before: the first run of all would look through an empty hour. */
  #skipThePast(): void {
    const minute = new Date(this.#time.now - (this.#time.now % 60_000)).toISOString();
    for (const [table, rowKey] of [
      ["due", "due"],
      ["duedeliveries", "due"],
      ["dirty", "sweep"],
    ] as const) {
      this.world.model.createTable(table);
      this.world.model.transact(table, "watermark", [
        { kind: "put", rowKey, properties: { minute } },
      ]);
    }
  }

  #isAtRest(): boolean {
    const { model, queue } = this.world;
    return this.#clients === 0 && queue.pending === 0 && openWork(model).length === 0;
  }

  #client(run: () => Promise<void>, afterMs: number): void {
    this.#clients += 1;
    const go = async () => {
      try {
        await run();
      } catch (error) {
        this.hosts.note("client", error);
      }
      this.#clients -= 1;
    };
    this.#time.set(() => void go(), afterMs);
  }

  #startClients(): void {
    const random = this.#random;
    const posts = random.between(2, 5);
    for (let index = 0; index < posts; index += 1) this.#startPost(`post-key-${index}`);
    const charges = random.below(4);
    for (let index = 0; index < charges; index += 1) this.#startCharge(`charge ${index}`);
    if (random.chance(0.5)) {
      const { platformId } = random.pick(this.tenants).scope;
      const credit = async ({ services }: { readonly services: Services }) => {
        await creditTokens(services, platformId, "later credit", 30);
        return "credited";
      };
      this.#client(async () => {
        await this.#insist(credit, () => undefined);
      }, random.below(ASKED_WITHIN_MS));
    }
  }

  #draftOf(key: string, tenant: Tenant): Draft {
    const random = this.#random;
    const networks = random.chance(0.6) ? tenant.networks : [random.pick(tenant.networks)];
    const isScheduled = random.chance(0.3);
    const dueAt = this.#time.now + ASKED_WITHIN_MS + random.between(15_000, 150_000);
    return {
      text: `The text of ${key}`,
      networks,
      mediaUrls: [],
      altTexts: [],
      platformOptions: {},
      scheduleAt: isScheduled ? new Date(dueAt).toISOString() : null,
      externalId: key,
      metadata: {},
    };
  }

  #startPost(key: string): void {
    const random = this.#random;
    const tenant = random.pick(this.tenants);
    const twins = random.chance(0.3) ? random.between(2, 3) : 1;
    const draft = this.#draftOf(key, tenant);
    const ask: Ask = {
      kind: "post",
      key,
      tenant,
      draft,
      isParallel: twins > 1,
      answers: [],
      postIds: new Set(),
    };
    this.asks.push(ask);
    const at = random.below(ASKED_WITHIN_MS);
    const scope = { ...tenant.scope, requestId: key };
    const submit = async ({ services }: { readonly services: Services }) => {
      const connections = await services.connections.listOfProfile(scope.profileId);
      const publishing = { ...scope, connections };
      const created = await createPost(services, publishing, { idempotencyKey: key, draft });
      return created.post.id;
    };
    for (let twin = 0; twin < twins; twin += 1)
      this.#client(
        async () => {
          const postId = await this.#insist(submit, (answer) => ask.answers.push(answer));
          if (postId === undefined) return;
          ask.postIds.add(postId);
          if (twin === 0) this.#startSequel(scope, postId, draft);
        },
        at + random.below(50),
      );
  }

  /** What some clients do with their post later on. */
  #startSequel(scope: ProfileScope, postId: string, draft: Draft): void {
    const random = this.#random;
    if (!random.chance(0.4)) return;
    if (draft.scheduleAt !== null && random.chance(0.4))
      return this.#startMoves(scope, postId, draft.scheduleAt);
    const sequel = async ({ services }: { readonly services: Services }) => {
      if (draft.scheduleAt !== null && random.chance(0.5))
        await cancelPost(services, scope, postId);
      else await retryPost(services, scope, { postId, networks: undefined });
    };
    this.#startOnce(sequel, random.below(400_000));
  }

  /** Asked once: it has no key under which a repeat would be safe to count. */
  #startOnce(request: (to: { readonly services: Services }) => Promise<unknown>, afterMs: number) {
    this.#client(async () => {
      await this.#ask(request);
    }, afterMs);
  }

  /** To another time and back, one so soon after the other that they may overtake each other. */
  #startMoves(scope: ProfileScope, postId: string, scheduleAt: string): void {
    const random = this.#random;
    const laterMs = random.between(-30_000, 120_000);
    const other = new Date(Date.parse(scheduleAt) + laterMs).toISOString();
    const moveTo = (time: string) => async (to: { readonly services: Services }) => {
      const change = { scheduleAt: time };
      await updatePost(to.services, scope, { postId, change });
    };
    const at = random.below(60_000);
    this.#startOnce(moveTo(other), at);
    this.#startOnce(moveTo(scheduleAt), at + random.below(20_000));
  }

  #startCharge(key: string): void {
    const random = this.#random;
    const tenant = random.pick(this.tenants);
    const ask: Ask = {
      kind: "charge",
      key,
      tenant,
      draft: undefined,
      isParallel: false,
      answers: [],
      postIds: new Set(),
    };
    this.asks.push(ask);
    const { platformId } = tenant.scope;
    const pay = async ({ services }: { readonly services: Services }) => {
      await charge(services, platformId, {
        operationId: key,
        operation: "posts.validate",
        tokens: 1,
        applicationId: null,
        profileId: null,
        postId: null,
        network: null,
        actor: { kind: "system", id: "simulation" },
        requestId: key,
      });
      return "paid";
    };
    this.#client(async () => {
      await this.#insist(pay, (answer) => ask.answers.push(answer));
    }, random.below(ASKED_WITHIN_MS));
  }

  /** One request to some process: what it answered, the code of its error, or `no_answer`. */
  async #ask<T>(
    request: (to: { readonly services: Services }) => Promise<T>,
  ): Promise<{ readonly value: T } | { readonly code: string }> {
    const host = await this.hosts.any();
    const answered = async () => {
      try {
        return { value: await request(host) };
      } catch (error) {
        if (!(error instanceof AppError)) this.hosts.note("request", error);
        return { code: error instanceof AppError ? error.code : "internal_error" };
      }
    };
    const silence = this.#time.wait(PATIENCE_MS).then(() => "silence" as const);
    const answer = await Promise.race([host.machine.died, silence, answered()]);
    return typeof answer === "string" ? { code: "no_answer" } : answer;
  }

  /** Asks again and again until there is an answer to go by. */
  async #insist<T>(
    request: (to: { readonly services: Services }) => Promise<T>,
    tell: (answer: string) => void,
  ): Promise<T | undefined> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const answer = await this.#ask(request);
      if ("value" in answer) {
        tell(String(answer.value));
        return answer.value;
      }
      tell(answer.code);
      if (REFUSALS.has(answer.code)) return undefined;
      if (answer.code !== "no_answer" && answer.code !== "service_unavailable")
        this.hosts.note("request", new Error(`answered ${answer.code}`));
      await this.#time.wait(this.#random.between(50, 6_000));
    }
    return undefined;
  }
}

/** Runs a seed; the same seed gives the same run. */
export async function simulate(
  seed: number,
  mutant: Mutant = THE_PRODUCT,
  log: Log = SILENT,
): Promise<Outcome> {
  const restore = mutant.install?.();
  try {
    const simulation = new Simulation(seed, mutant, log);
    const violations = await simulation.run();
    return { seed, counts: simulation.world.nature.counts, violations };
  } finally {
    restore?.();
  }
}
