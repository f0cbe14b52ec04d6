import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isEnded,
  nextLegStep,
  postStatus,
  type Leg,
  type LegStatus,
  type LegStep,
} from "../../src/shared/publishing/leg.ts";
import { inSeconds, legOf, NOW } from "./fixtures.ts";

const legsOf = (statuses: readonly LegStatus[]) => statuses.map((status) => legOf({ status }));
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
    expect(isEnded(legOf({ status }))).toBe(ended);
  });
});

describe("what a worker may do with a leg", () => {
  const past = inSeconds(-1).toISOString();
  const present = NOW.toISOString();
  const future = inSeconds(30).toISOString();
  const claim = { kind: "claim", afterCrash: false } as const;
  const takeOver = { kind: "claim", afterCrash: true } as const;
  const later = { kind: "later", at: future } as const;

  test.each<[string, Partial<Leg>, LegStep]>([
    ["new", {}, claim],
    ["due", { notBefore: past }, claim],
    ["due this very moment", { notBefore: present }, claim],
    ["not due yet", { notBefore: future }, later],
    ["waiting for its media", { status: "publishing", phase: "waiting", notBefore: future }, later],
    ["with processed media", { status: "publishing", phase: "waiting", notBefore: past }, claim],
    ["owned", { status: "publishing", phase: "claimed", leaseUntil: future }, later],
    ["left by its owner", { status: "publishing", phase: "claimed", leaseUntil: past }, takeOver],
    ["left this very moment", { status: "publishing", leaseUntil: present }, takeOver],
    [
      "left with an unknown outcome",
      { status: "publishing", phase: "sent", leaseUntil: past },
      takeOver,
    ],
    ["of unknown outcome, not to be looked up yet", { phase: "sent", notBefore: future }, later],
    ["of unknown outcome, to be looked up", { phase: "sent", notBefore: past }, claim],
    ["succeeded", { status: "succeeded", leaseUntil: past }, { kind: "ended" }],
    ["failed", { status: "failed", notBefore: past }, { kind: "ended" }],
    ["skipped", { status: "skipped" }, { kind: "ended" }],
  ])("that is %s", (_, leg, step) => {
    expect(nextLegStep(legOf(leg), NOW)).toEqual(step);
  });
});
