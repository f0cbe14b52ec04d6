import { describe, expect, test } from "vitest";
import {
  afterClosing,
  afterPage,
  CLOSING_CHECK_MS,
  newErasure,
  QUIET_MS,
  type Erasure,
} from "../../src/shared/erasure/erasure-stages.ts";

const START = new Date("2026-03-04T10:00:00.000Z");
const at = (ms: number) => new Date(START.getTime() + ms);
const erasure = newErasure(
  {
    platformId: "plt_1",
    applicationId: "app_1",
    id: "prf_1",
    requestedBy: { kind: "session", id: "usr_1" },
  },
  START,
);
const clearing: Erasure = { ...erasure, stage: "clearing" };

describe("an erasure that closes the profile", () => {
  test.each([
    ["waits while a post is open, however long ago it was asked for", 1, 10 * QUIET_MS, "closing"],
    ["waits until whatever was under way at the request has ended", 0, QUIET_MS - 1, "closing"],
    ["goes on when neither holds", 0, QUIET_MS, "clearing"],
  ] as const)("an erasure that closes the profile: %s", (_name, open, ms, stage) => {
    const after = afterClosing({ ...erasure, cursor: "page" }, open, at(ms));
    expect(after).toMatchObject({ stage, cursor: "" });
    if (stage === "closing") expect(after.notBefore).toBe(at(ms + CLOSING_CHECK_MS).toISOString());
  });
});

describe("an erasure that clears rows", () => {
  const steps = 3;
  const page = (removed: number, next?: string) => ({ removed, next });

  test.each<[string, Partial<Erasure>, ReturnType<typeof page>, Partial<Erasure>]>([
    ["stays in a step that has more pages", { step: 1 }, page(5, "c"), { step: 1, cursor: "c" }],
    ["takes the next step from its beginning", { cursor: "c" }, page(0), { step: 1, cursor: "" }],
    [
      "begins again when its round found something, even in an earlier step",
      { step: 2, foundInRound: 4 },
      page(0),
      { stage: "clearing", step: 0, foundInRound: 0, notBefore: at(QUIET_MS).toISOString() },
    ],
    ["lets the posts go when its round found nothing", { step: 2 }, page(0), { stage: "removing" }],
    ["counts what it removed", { removed: 7, foundInRound: 2 }, page(3), { removed: 10 }],
  ])("an erasure that clears rows: %s", (_name, before, found, after) => {
    expect(afterPage({ ...clearing, ...before }, found, steps, START)).toMatchObject(after);
  });
});
