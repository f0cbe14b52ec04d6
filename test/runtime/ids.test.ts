import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inverted, isId, newId, timeOfId, type IdKind } from "../../src/shared/runtime/ids.ts";

const PREFIXES: Readonly<Record<IdKind, string>> = {
  platform: "plt_",
  user: "usr_",
  invitation: "inv_",
  application: "app_",
  key: "key_",
  profile: "prf_",
  connection: "con_",
  connectSession: "cns_",
  post: "pst_",
  ledgerEntry: "led_",
  endpoint: "whk_",
  event: "evt_",
  delivery: "dlv_",
  auditEvent: "aud_",
  request: "req_",
  file: "med_",
};
const kinds = Object.keys(PREFIXES) as IdKind[];

describe("ids", () => {
  test.each(kinds)("a new %s id has its own form, and no other kind takes it", (kind) => {
    const id = newId(kind, new Date("2026-03-04T10:00:00Z"));
    expect(id).toMatch(new RegExp(`^${PREFIXES[kind]}[0-9A-HJKMNP-TV-Z]{26}$`));
    for (const other of kinds) expect(isId(other, id)).toBe(other === kind);
  });

  test("a hundred thousand ids of one millisecond differ and sort in the order they were made", () => {
    const now = new Date("2026-03-04T10:00:00Z");
    const ids = Array.from({ length: 100_000 }, () => newId("post", now));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });

  test("after a clock that was ahead was set back ids are of the present again, and still sort", () => {
    newId("post", new Date("2031-01-03T00:00:00.000Z"));
    const now = new Date("2031-01-02T00:00:00.000Z");
    const ids = [newId("post", now), newId("post", now), newId("post", now)];
    expect(ids.map((id) => timeOfId("post", id))).toEqual(ids.map(() => now.getTime()));
    expect(ids.toSorted()).toEqual(ids);
  });

  test("clocks a few seconds apart make ids that sort in the order they were made", () => {
    const at = Date.parse("2031-01-04T00:00:00.000Z");
    const ids = [0, -2_000, -5_000, 1].map((ms) => newId("post", new Date(at + ms)));
    expect(ids.toSorted()).toEqual(ids);
  });

  test("an id tells the time it was made", () => {
    const at = Date.parse("2031-01-02T03:04:05.678Z");
    expect(timeOfId("profile", newId("profile", new Date(at)))).toBe(at);
  });

  const body = "01KJW4PB40T3M5XE693X8AKFFG";
  test.each([
    ["nothing", ""],
    ["the prefix alone", "prf_"],
    ["a short one", `prf_${body.slice(1)}`],
    ["a long one", `prf_${body}0`],
    ["small letters", `prf_${body.toLowerCase()}`],
    ["a letter that is not in the alphabet", `prf_${body.slice(0, -1)}U`],
    ["a time beyond what 48 bits hold", `prf_8${body.slice(1)}`],
    ["another prefix", `app_${body}`],
    ["no prefix", body],
    ["something after it", `prf_${body}/x`],
    ["a line break after it", `prf_${body}\n`],
  ])("%s is no id", (_name, text) => {
    expect(isId("profile", text)).toBe(false);
  });
});

describe("inverted", () => {
  const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

  test("inverted has sixteen digits and sorts the other way round", () => {
    fc.assert(
      fc.property(time, time, (left, right) => {
        expect(inverted(left)).toMatch(/^\d{16}$/);
        expect(compare(inverted(right), inverted(left))).toBe(Math.sign(left - right));
      }),
    );
  });
});

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
