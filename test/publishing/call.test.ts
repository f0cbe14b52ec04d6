import { bounded } from "../setup/bounded.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Call,
  type CallKind,
  endedCall,
  newCall,
  withdrawn,
} from "../../src/shared/publishing/call.ts";
import { inWords } from "../../src/shared/networks/wording.ts";
import { invariant } from "../../src/shared/runtime/errors.ts";
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
import { inSeconds, legOf, NOW, partsOf } from "./fixtures.ts";

const at = NOW.toISOString();
const aCall = (kind: CallKind, round = "r") => newCall(kind, `leg|${kind}|${round}`, NOW);
const removal = (overrides: Partial<Call> = {}): Call => ({
  ...aCall("remove"),
  ...overrides,
});
const publishedWith = (...later: readonly Call[]) => legOf({ state: "done", later });
const claim = { id: "claim", now: NOW, leaseSeconds: 120, afterCrash: false };
const failure = { code: "rate_limited", networkCode: "429" } as const;

describe("a call", () => {
  test.each<[string, Call, Partial<Call>]>([
    ["is open when it was asked for", removal(), { state: "open", requestedAt: at, attempts: 0 }],
    [
      "that was made is done",
      endedCall(removal({ sentAt: at }), { kind: "done", externalId: "1", url: null }, NOW),
      {
        state: "done",
        at,
        sentAt: null,
        result: bounded({ externalId: "1", url: null }),
        error: null,
      },
    ],
    [
      "that was refused has failed",
      endedCall(removal(), { kind: "failed", failure }, NOW),
      { state: "failed", at, result: null },
    ],
    [
      "of which nobody can tell is unknown",
      endedCall(removal({ sentAt: at }), { kind: "unknown", failure }, NOW),
      { state: "unknown" },
    ],
    ["that became needless has failed", withdrawn(removal(), NOW), { state: "failed" }],
    [
      "that may have been made and became needless is unknown",
      withdrawn(removal({ sentAt: at }), NOW),
      { state: "unknown" },
    ],
  ])("a call: %s", (_, call, expected) => {
    expect(call).toMatchObject(expected);
  });

  test("a call has words of its own where those of publishing would be wrong", () => {
    const failure = { code: "network_unavailable", networkCode: null } as const;
    const { error } = endedCall(removal(), { kind: "failed", failure }, NOW);
    invariant(error !== null, "the call has no error");
    const reading = { network: "bluesky", locale: "en" } as const;
    expect(inWords(error, reading).message).toContain("Nothing was published");
    expect(inWords(error, { ...reading, call: "remove" }).message).toContain("the removal");
  });

  test.each([
    ["comment", 10],
    ["remove", 60],
  ] as const)("%s is repeated for %i minutes, ever more slowly", (kind, minutes) => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
        const call = { ...aCall(kind), kind };
        let elapsed = 0;
        for (let retries = 0; retries < 100; retries += 1) {
          const seconds = nextCallSeconds({ ...call, retries }, inSeconds(elapsed), random);
          if (seconds === null) break;
          elapsed += seconds;
        }
        expect(elapsed).toBeCloseTo(minutes * 60, 1);
      }),
    );
  });

  test("a first comment is tried again within seconds at first", () => {
    const call = { ...aCall("comment"), kind: "comment" } as const;
    const pauses = [0, 1, 2, 3, 4].map((retries) =>
      nextCallSeconds({ ...call, retries }, NOW, 0.5),
    );
    expect(pauses).toEqual([2, 5, 10, 20, 40]);
  });

  test("waits for as long as the network says, or ends when that is too long", () => {
    const call = { ...removal(), kind: "remove" } as const;
    expect(nextCallSeconds(call, NOW, 0.5, 1_800)).toBe(1_800);
    expect(nextCallSeconds(call, NOW, 0.5, 3_601)).toBeNull();
  });
});

describe("a leg with calls", () => {
  test("a leg with calls that has ended is busy until its calls are final, and keeps its own state", () => {
    const leg = publishedWith(removal());
    expect([isBusy(leg), isBeingRemoved(leg)]).toEqual([true, true]);
    expect(nextLegStep(leg, NOW)).toEqual({ kind: "claim", afterCrash: false });
    const taken = claimed(leg, claim);
    expect(partsOf(taken)).toMatchObject({ status: "succeeded", state: "done", attempts: 0 });
    expect(openCall(taken)).toMatchObject({ state: "claimed", attempts: 1 });
    expect(nextLegStep(taken, NOW)).toEqual({ kind: "later", at: taken.leaseUntil });
    const done = publishedWith(removal({ state: "done" }));
    expect([isBusy(done), isBeingRemoved(done)]).toEqual([false, false]);
    expect(nextLegStep(done, NOW)).toEqual({ kind: "ended" });
  });

  test("makes them in their order, and only once it has ended", () => {
    const comment = aCall("comment");
    expect(openCall(publishedWith(comment, removal()))?.kind).toBe("comment");
    const written = endedCall(comment, { kind: "done", externalId: "1", url: null }, NOW);
    expect(openCall(publishedWith(written, removal()))?.kind).toBe("remove");
    expect(openCall(legOf({ later: [comment] }))).toBeUndefined();
  });

  test("keeps the latest call of each kind", () => {
    const comment = aCall("comment");
    const refused = endedCall(removal(), { kind: "failed", failure }, NOW);
    const again = aCall("remove", "r2");
    const leg = withNewCall(publishedWith(refused, comment), again);
    expect(leg.calls.slice(1)).toEqual([comment, again]);
  });

  test("gives a call back under which storage failed not before the call is over", () => {
    const sent = removal({ state: "sent", sentAt: at, calledAt: at });
    const leg = {
      ...publishedWith(sent),
      claimId: "claim",
      leaseUntil: inSeconds(120).toISOString(),
    };
    const back = givenBack(leg, NOW, 10, 30_000);
    expect(back).toMatchObject({ claimId: null, leaseUntil: null });
    expect(back.notBefore).toBe(inSeconds(30).toISOString());
    expect(endingAt(leg, inSeconds(5), 30_000).leaseUntil).toBe(inSeconds(30).toISOString());
    const waiting = postponed(leg, "attempt", NOW, 7);
    expect(waiting).toMatchObject({ claimId: null, notBefore: inSeconds(7).toISOString() });
  });
});
