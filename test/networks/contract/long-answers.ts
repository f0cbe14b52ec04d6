import { expect, test } from "vitest";
import { createNetworkTools } from "../../../src/shared/connections/network-tools.ts";
import { aProfile } from "../../setup/factories.ts";
import { IS_LONG } from "../../setup/long-check.ts";
import { allow, signIn } from "../../setup/sign-in.ts";
import { priceOf } from "../../../src/shared/ledger/ledger.ts";
import { unique, type Publisher } from "../../setup/publisher.ts";
import type { Answer } from "../../setup/relay.ts";
import type { NetworkContract } from "./contracts.ts";
import { expectTruth, runLeg, type Form } from "./leg-run.ts";
import { lengthened } from "./long-text.ts";
import { expectWholeLedger, TIMEOUT_MS, troubledSteps, type LegStep } from "./steps.ts";
import { publishersOfOneAccount, type World } from "./world.ts";
import { saveLinked } from "../../setup/stored.ts";
import { forFile } from "../../setup/for-file.ts";

/** By how many texts of an answer those are apart that are long alone. */
const TEXTS_APART = IS_LONG ? 1 : 4;

/** Not while the suite runs. */
const LATER_MS = 200 * 24 * 3_600_000;

/** A request of another profile, which is written together with whatever the leg's worker writes. */
function schedule(
  { relay, network }: World,
  neighbor: Publisher,
  { body: files }: Form,
): Promise<Answer> {
  const scheduleAt = new Date(relay.clock.now().getTime() + LATER_MS).toISOString();
  const { mediaUrls = [] } = files ?? {};
  const body = { text: unique("Neighbor"), platforms: [network], scheduleAt, mediaUrls };
  return neighbor.submit(body);
}

interface LongRun {
  readonly form: Form;
  readonly step: LegStep;
  readonly fault: string;
  readonly neighbor: Publisher;
}

/** Publishes while the answer of one call says very long things; returns how many texts it has. */
async function runLong(world: World, { form, step, fault, neighbor }: LongRun): Promise<number> {
  const { wire, relay } = world;
  const where = `${fault} of ${step.name}`;
  const answers: Promise<Answer>[] = [];
  wire.texts = 0;
  wire.onLong = () => void answers.push(schedule(world, neighbor, form));
  const from = relay.logLines.length;
  const run = await runLeg(world, form, { step, fault });
  wire.onLong = () => undefined;
  const tokens = run.paid.tokens - answers.length * priceOf("posts.schedule");
  expectTruth({ ...run, paid: { ...run.paid, tokens } }, where);
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect([where, statuses]).toEqual([where, [201]]);
  const broken = relay.logLines
    .slice(from)
    .filter((line) => line.includes('"level":"error"') || line.includes("not written"));
  expect([where, broken]).toEqual([where, []]);
  return wire.texts;
}

/** Links an account while the nth answer says very long things. Returns whether there was such an answer. */
async function linkLong(world: World, as: Form["as"], nth: number): Promise<boolean> {
  const { relay, network, application } = world;
  const { services } = relay;
  const tools = createNetworkTools(services.connections, network);
  let calls = 0;
  const outcome = await signIn(network, as ?? {}, {
    tools: {
      ...tools,
      async http(request) {
        calls += 1;
        const isAsked = calls === nth;
        const answer = await tools.http(request);
        return isAsked ? lengthened(answer).answer : answer;
      },
    },
    decide: (page) => allow(services.connections.outbound.browserUrl(page)),
    async keep({ flow, candidates }) {
      await services.connections.stores.oauthStates.insert(unique("state"), {
        sessionId: "session",
        network,
        cookieHash: "cookie",
        expiresAt: relay.clock.now().toISOString(),
        secrets: {
          codeVerifier: "",
          token: "",
          flow,
          ...(candidates && { candidates: [...candidates] }),
        },
      });
    },
  });
  if (outcome.kind === "linked") {
    const { id: profileId } = await aProfile(relay, application);
    const platformId = application.platform.id;
    const owner = { platformId, applicationId: application.id, profileId };
    await saveLinked(services, owner, network, outcome.linked);
    const path = `/v1/profiles/${profileId}/connections`;
    const { status } = await relay.call("GET", path, { key: application.key });
    expect([nth, status]).toEqual([nth, 200]);
  }
  return calls >= nth;
}

/** What a network says, however long it is: it is stored, and what others ask is answered. */
export function describeLongAnswers(contract: NetworkContract, start: () => Promise<World>): void {
  const world = forFile(() => start());

  const [firstForm] = Object.values(contract.forms);
  // One by one, each text meets other bounds than all of them together; the visible call's matter most.
  const isTakenApart = ({ place }: LegStep, form: Form) =>
    IS_LONG || (place === "sending" && form === firstForm);

  test.each(Object.entries(contract.forms))(
    "a leg of form %s ends, whichever answer has texts of 40,000 characters",
    { timeout: TIMEOUT_MS },
    async (_, form) => {
      const [, neighbor] = await publishersOfOneAccount(world, form.as ?? {}, 2);
      if (neighbor === undefined) throw new Error("there is no neighbor");
      for (const step of await troubledSteps(world, form, "long answer", form === firstForm)) {
        const on = { form, step, neighbor };
        const texts = await runLong(world, { ...on, fault: "long-answer" });
        const apart = isTakenApart(step, form) && texts > 1 ? texts : 0;
        for (let nth = 1; nth <= apart; nth += TEXTS_APART)
          await runLong(world, { ...on, fault: `long-answer ${nth}` });
      }
      await expectWholeLedger(world);
    },
  );

  const ways = new Map(Object.values(contract.forms).map(({ as }) => [JSON.stringify(as), as]));
  test.each([...ways.values()])(
    "an account is linked or refused, whichever answer has texts of 40,000 characters: %j",
    { timeout: TIMEOUT_MS },
    async (as) => {
      let nth = 1;
      while (await linkLong(world, as, nth)) nth += 1;
      expect(nth).toBeGreaterThan(1);
    },
  );
}
