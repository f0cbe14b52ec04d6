import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallState } from "../../src/shared/publishing/call.ts";
import {
  isEnded,
  nextLegStep,
  postStatus,
  legStatusOf,
  type LegStatus,
  type LegStep,
} from "../../src/shared/publishing/leg.ts";
import { type GivenLeg, inSeconds, legOf, NOW } from "./fixtures.ts";

const STATE_OF = {
  pending: "open",
  publishing: "claimed",
  succeeded: "done",
  failed: "failed",
  skipped: "skipped",
} as const satisfies Record<LegStatus, CallState>;
const legWith = (status: LegStatus) => legOf({ state: STATE_OF[status] });
const legsOf = (statuses: readonly LegStatus[]) => statuses.map(legWith);
const STATUSES = ["pending", "publishing", "succeeded", "failed", "skipped"] as const;

describe("a post's status", () => {
  test.each<[string, readonly LegStatus[], string]>([
    ["one pending", ["pending"], "processing"],
    ["one publishing", ["publishing"], "processing"],
    ["one succeeded", ["succeeded"], "succeeded"],
    ["one failed", ["failed"], "failed"],
    ["all succeeded", ["succeeded", "succeeded", "succeeded"], "succeeded"],
    ["all failed", ["failed", "failed"], "failed"],
    ["some succeeded, some failed", ["succeeded", "failed", "succeeded"], "partial"],
    ["one still on its way", ["succeeded", "failed", "publishing"], "processing"],
    ["one still waiting", ["failed", "pending"], "processing"],
    ["the rest skipped, one succeeded", ["skipped", "succeeded", "skipped"], "succeeded"],
    ["the rest skipped, one failed", ["skipped", "failed"], "failed"],
    ["skipped, succeeded and failed", ["skipped", "succeeded", "failed"], "partial"],
    ["the rest skipped, one pending", ["skipped", "pending"], "processing"],
    ["all skipped", ["skipped", "skipped"], "failed"],
  ])("a post's status with %s legs", (_, statuses, status) => {
    expect(postStatus(legsOf(statuses))).toBe(status);
  });

  test("a post's status does not depend on the order of the legs, and is final exactly when all of them are", () => {
    const statuses = fc.array(fc.constantFrom(...STATUSES), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(statuses, (given) => {
        const legs = legsOf(given);
        expect(postStatus(legs.toReversed())).toBe(postStatus(legs));
        expect(postStatus(legs) !== "processing").toBe(legs.every(isEnded));
      }),
    );
  });
});

describe("a leg", () => {
  test.each<[LegStatus, boolean]>([
    ["pending", false],
    ["publishing", false],
    ["succeeded", true],
    ["failed", true],
    ["skipped", true],
  ])("a leg that is %s has ended: %s", (status, ended) => {
    expect(isEnded(legWith(status))).toBe(ended);
    expect(legStatusOf(legWith(status))).toBe(status);
  });
});

describe("what a worker may do with a leg", () => {
  const past = inSeconds(-1).toISOString();
  const present = NOW.toISOString();
  const future = inSeconds(30).toISOString();
  const claim = { kind: "claim", afterCrash: false } as const;
  const takeOver = { kind: "claim", afterCrash: true } as const;
  const later = { kind: "later", at: future } as const;

  test.each<[string, GivenLeg, LegStep]>([
    ["new", {}, claim],
    ["due", { notBefore: past }, claim],
    ["due this very moment", { notBefore: present }, claim],
    ["not due yet", { notBefore: future }, later],
    ["waiting for its media", { state: "waiting", notBefore: future }, later],
    ["with processed media", { state: "waiting", notBefore: past }, claim],
    ["owned", { state: "claimed", leaseUntil: future }, later],
    ["left by its owner", { state: "claimed", leaseUntil: past }, takeOver],
    ["left this very moment", { state: "claimed", leaseUntil: present }, takeOver],
    ["left with an unknown outcome", { state: "sent", leaseUntil: past }, takeOver],
    ["of unknown outcome, not to be looked up yet", { state: "sent", notBefore: future }, later],
    ["of unknown outcome, to be looked up", { state: "sent", notBefore: past }, claim],
    ["succeeded", { state: "done", leaseUntil: past }, { kind: "ended" }],
    ["failed", { state: "failed", notBefore: past }, { kind: "ended" }],
    ["skipped", { state: "skipped" }, { kind: "ended" }],
  ])("what a worker may do with a leg that is %s", (_, leg, step) => {
    expect(nextLegStep(legOf(leg), NOW)).toEqual(step);
  });
});
