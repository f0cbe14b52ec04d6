import { describe, expect, test } from "vitest";
import { hint, hintsAfter, NO_HINTS, type HintsToSend } from "../../src/shared/publishing/hints.ts";
import type { PublishingDeps } from "../../src/shared/publishing/deps.ts";
import { postRefOf } from "../../src/shared/publishing/post.ts";
import { draftOf, type GivenLeg, inSeconds, legOf, NOW, postOf } from "./fixtures.ts";

const open = legOf().reservation;
const none = { ...open, state: "none", tokens: 0 } as const;
const LATER = inSeconds(7).toISOString();
const DUE = inSeconds(60).toISOString();

const processing = postOf();
const scheduled = (scheduleAt: string) =>
  postOf({ id: processing.id, status: "scheduled", draft: draftOf({ scheduleAt }) });
const both = (overrides: GivenLeg) => [
  legOf({ network: "bluesky", ...overrides }),
  legOf({ network: "mastodon", ...overrides }),
];

describe("what a change of a post leaves to do", () => {
  test("a change of a post leaves every leg that it starts, with its time", () => {
    const after = { post: processing, legs: both({ notBefore: LATER }) };
    expect(hintsAfter(undefined, after, 1)).toEqual({
      networks: ["bluesky", "mastodon"],
      startAt: LATER,
      hasEvents: true,
      dueAt: null,
    });
  });

  test.each<[string, GivenLeg, GivenLeg, number]>([
    ["a leg of a post that starts", { reservation: none }, { reservation: open }, 1],
    ["a leg that is retried", { reservation: { ...open, state: "released" } }, {}, 1],
    ["no leg that was on its way before", {}, { notBefore: LATER }, 0],
    ["no leg that ends", {}, { state: "failed", reservation: { ...open, state: "released" } }, 0],
    ["no leg that nothing is reserved for", { reservation: none }, { reservation: none }, 0],
  ])("what a change of a post leaves to do is %s", (_what, before, after, count) => {
    const [first] = both({});
    const legsOf = (leg: GivenLeg) => [first, legOf({ network: "mastodon", ...leg })];
    const known = { post: processing, legs: legsOf(before).filter((leg) => leg !== undefined) };
    const next = { post: processing, legs: legsOf(after).filter((leg) => leg !== undefined) };
    const expected = count === 1 ? ["mastodon"] : [];
    expect(hintsAfter(known, next, 0)).toEqual({ ...NO_HINTS, networks: expected });
  });

  test.each([
    ["of a post that is stored for later", undefined, scheduled(DUE), DUE],
    ["of a post that is moved", scheduled(LATER), scheduled(DUE), DUE],
    ["but not of one that keeps its time", scheduled(DUE), scheduled(DUE), null],
    ["nor of one that starts", scheduled(DUE), { ...scheduled(DUE), ...processing }, null],
  ] as const)("a change leaves to do the start %s", (_what, before, after, dueAt) => {
    const legs = both({ reservation: none });
    const known = before && { post: before, legs };
    expect(hintsAfter(known, { post: after, legs }, 0)).toEqual({ ...NO_HINTS, dueAt });
  });
});

/** Hints of what waits, with what is sent and marked; `fails` names what is away. */
async function hinted(waiting: Partial<HintsToSend>, fails: readonly string[] = []) {
  const sent: [string, { networks?: readonly string[] }, ...unknown[]][] = [];
  const to =
    (name: string) =>
    (of: object, ...rest: readonly unknown[]): Promise<void> => {
      if (fails.includes(name)) return Promise.reject(new Error(`${name} is away`));
      sent.push([name, of, ...rest]);
      return Promise.resolve();
    };
  const services = {
    clock: { now: () => NOW },
    log: { warn: to("warn") },
    stores: {
      posts: { bringCheckForward: to("check") },
      publishQueue: {
        hint: (of: { readonly kind: string }, ...rest: readonly unknown[]) =>
          to(of.kind)(of, ...rest),
      },
    },
    webhooks: { stores: { webhookQueue: { hint: to("events") } } },
    wakes: { mark: (_kind: string, id: string) => to("mark")({ id }) },
  };
  // Safe: hints need nothing else of the process.
  await hint(services as unknown as PublishingDeps, postRefOf(processing), waiting);
  return sent.map(([name, { networks }, ...rest]) => [
    name,
    ...(networks === undefined ? [] : [networks]),
    ...rest,
  ]);
}

const names = (sent: readonly (readonly unknown[])[]) =>
  sent.map(([name]) => String(name)).toSorted();

describe("a hint", () => {
  test("a change that leaves nothing to do sends no hint", async () => {
    expect(await hinted({})).toEqual([]);
  });

  test("a hint of legs is visible when they begin, and their platform is marked", async () => {
    const sent = await hinted({ networks: ["bluesky"], startAt: LATER });
    expect(sent).toContainEqual(["legs", ["bluesky"], 7]);
    expect(names(sent)).toEqual(["legs", "mark"]);
  });

  test("a hint of events is only left out if the worker of legs that start now sends the events", async () => {
    const events = { hasEvents: true };
    expect(names(await hinted({ ...events, networks: ["bluesky"] }))).toEqual(["legs", "mark"]);
    const later = { ...events, networks: ["bluesky"], startAt: LATER } as const;
    expect(names(await hinted(later))).toEqual(["events", "legs", "mark"]);
    expect(names(await hinted(events))).toEqual(["events", "mark"]);
  });

  test("a hint of a start is sent if the timer might run too late", async () => {
    expect(await hinted({ dueAt: DUE })).toContainEqual(["start", 60]);
    const far = inSeconds(3_600).toISOString();
    expect(names(await hinted({ dueAt: far }))).toEqual(["mark"]);
  });

  test("a hint that can't be sent does not stop the others", async () => {
    const all = { networks: ["bluesky"], startAt: LATER, hasEvents: true, dueAt: DUE } as const;
    const sent = await hinted(all, ["legs", "mark"]);
    expect(names(sent)).toEqual(["check", "events", "start", "warn", "warn"]);
  });
});
