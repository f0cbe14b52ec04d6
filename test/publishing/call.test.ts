import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Call,
  claimedCall,
  endedCall,
  newCall,
  sentCall,
  type LaterCall,
  waitingCall,
  withdrawn,
} from "../../src/shared/publishing/call.ts";
import { nextCallSeconds } from "../../src/shared/publishing/leg-times.ts";
import {
  isBeingRemoved,
  isBusy,
  nextLegStep,
  openCall,
  withNewCall,
} from "../../src/shared/publishing/leg.ts";
import {
  claimed,
  endingAt,
  givenBack,
  postponed,
} from "../../src/shared/publishing/publish/leg-attempt.ts";
import { inSeconds, legOf, NOW } from "./fixtures.ts";

const at = NOW.toISOString();
const removal = (overrides: Partial<LaterCall> = {}): LaterCall => ({
  ...newCall("remove", { legKey: "leg", round: "r", now: NOW }),
  ...overrides,
});
const publishedWith = (...calls: readonly LaterCall[]) => legOf({ status: "succeeded", calls });
const claim = { id: "claim", now: NOW, leaseSeconds: 120, afterCrash: false };
const failure = { code: "rate_limited", networkCode: "429" } as const;

describe("a call", () => {
  test.each<[string, Call, Partial<LaterCall>]>([
    ["is open when it was asked for", removal(), { state: "open", requestedAt: at, attempts: 0 }],
    [
      "that is claimed begins another attempt",
      claimedCall(removal({ state: "waiting", attempts: 1 }), NOW, false),
      { state: "claimed", attempts: 2, crashes: 0 },
    ],
    [
      "whose worker died goes on with its attempt and counts the crash",
      claimedCall(removal({ state: "claimed", attempts: 1 }), NOW, true),
      { state: "claimed", attempts: 1, crashes: 1 },
    ],
    [
      "whose worker died after it was sent is looked up first",
      claimedCall(removal({ state: "sent", sentAt: at, attempts: 1 }), NOW, true),
      { state: "sent", sentAt: at, crashes: 1 },
    ],
    ["is marked before it is made", sentCall(removal(), NOW), { state: "sent", sentAt: at }],
    [
      "that was not made is open again",
      waitingCall(removal({ state: "claimed" }), "attempt"),
      { state: "open" },
    ],
    [
      "of unknown outcome stays sent",
      waitingCall(removal({ state: "sent", sentAt: at }), "look"),
      { state: "sent" },
    ],
    [
      "that was made is done",
      endedCall(removal({ sentAt: at }), { kind: "done", externalId: "1", url: null }, NOW),
      { state: "done", at, sentAt: null, result: { externalId: "1", url: null }, error: null },
    ],
    [
      "that was refused has failed",
      endedCall(removal(), { kind: "failed", failure }, NOW),
      { state: "failed", at, result: null },
    ],
    [
      "of which nobody can tell is unknown",
      endedCall(removal({ sentAt: at }), { kind: "failed", failure, isUnknown: true }, NOW),
      { state: "unknown" },
    ],
    ["that became needless has failed", withdrawn(removal(), NOW), { state: "failed" }],
    [
      "that may have been made and became needless is unknown",
      withdrawn(removal({ sentAt: at }), NOW),
      { state: "unknown" },
    ],
  ])("%s", (_, call, expected) => {
    expect(call).toMatchObject(expected);
  });

  test("has words of its own where those of publishing would be wrong", () => {
    const { error } = endedCall(
      removal(),
      { kind: "failed", failure: { code: "network_unavailable", networkCode: null } },
      NOW,
    );
    expect(error?.message).not.toContain("nothing was published");
  });

  test.each([
    ["comment", 10],
    ["remove", 60],
  ] as const)("%s is repeated for %i minutes, ever more slowly", (kind, minutes) => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
        const call = newCall(kind, { legKey: "leg", round: "r", now: NOW });
        let elapsed = 0;
        for (let attempts = 1; attempts < 100; attempts += 1) {
          const seconds = nextCallSeconds({ ...call, attempts }, inSeconds(elapsed), random);
          if (seconds === null) break;
          elapsed += seconds;
        }
        expect(elapsed).toBeCloseTo(minutes * 60, 1);
      }),
    );
  });

  test("waits for as long as the network says, or ends when that is too long", () => {
    expect(nextCallSeconds(removal({ attempts: 1 }), NOW, 0.5, 1_800)).toBe(1_800);
    expect(nextCallSeconds(removal({ attempts: 1 }), NOW, 0.5, 3_601)).toBeNull();
  });
});

describe("a leg with calls", () => {
  test("that has ended is busy until its calls are final, and keeps its own state", () => {
    const leg = publishedWith(removal());
    expect([isBusy(leg), isBeingRemoved(leg)]).toEqual([true, true]);
    expect(nextLegStep(leg, NOW)).toEqual({ kind: "claim", afterCrash: false });
    const taken = claimed(leg, claim);
    expect(taken).toMatchObject({ status: "succeeded", phase: "idle", attempts: 0 });
    expect(openCall(taken)).toMatchObject({ state: "claimed", attempts: 1 });
    expect(nextLegStep(taken, NOW)).toEqual({ kind: "later", at: taken.leaseUntil });
    const done = publishedWith(removal({ state: "done" }));
    expect([isBusy(done), isBeingRemoved(done)]).toEqual([false, false]);
    expect(nextLegStep(done, NOW)).toEqual({ kind: "ended" });
  });

  test("makes them in their order, and only once it has ended", () => {
    const comment = newCall("comment", { legKey: "leg", round: "r", now: NOW });
    expect(openCall(publishedWith(comment, removal()))?.kind).toBe("comment");
    const written = endedCall(comment, { kind: "done", externalId: "1", url: null }, NOW);
    expect(openCall(publishedWith(written, removal()))?.kind).toBe("remove");
    expect(openCall(legOf({ calls: [comment] }))).toBeUndefined();
  });

  test("keeps the latest call of each kind, and of one that ended nothing that only its network needs", () => {
    const comment = newCall("comment", { legKey: "leg", round: "r", now: NOW });
    const refused = endedCall(removal({ remote: { a: "b" } }), { kind: "failed", failure }, NOW);
    expect(refused.remote).toBeNull();
    const again = newCall("remove", { legKey: "leg", round: "r2", now: NOW });
    const leg = withNewCall(publishedWith(refused, comment), again);
    expect(leg.calls).toEqual([comment, again]);
  });

  test("gives a call back under which storage failed not before the call is over", () => {
    const sent = removal({ state: "sent", sentAt: at });
    const leg = {
      ...publishedWith(sent),
      claimId: "claim",
      leaseUntil: inSeconds(120).toISOString(),
    };
    const back = givenBack(leg, NOW, 10, 30_000);
    expect(back).toMatchObject({ status: "succeeded", claimId: null, leaseUntil: null });
    expect(back.notBefore).toBe(inSeconds(30).toISOString());
    expect(endingAt(leg, inSeconds(5), 30_000).leaseUntil).toBe(inSeconds(30).toISOString());
    const waiting = postponed(leg, "attempt", NOW, 7);
    expect(waiting).toMatchObject({ claimId: null, notBefore: inSeconds(7).toISOString() });
  });
});
