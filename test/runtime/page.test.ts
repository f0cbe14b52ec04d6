import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { AppError } from "../../src/shared/runtime/errors.ts";
import { createCursors, pageQuery, toPage } from "../../src/shared/runtime/page.ts";
import { hmacSha256 } from "../../src/shared/runtime/secrets.ts";

const KEY = new Uint8Array(32).fill(1);
const TAG_LENGTH = 16;
const cursors = createCursors({ current: KEY, previous: undefined });
const query = { list: "profiles", platformId: "plt_1", status: undefined };

function codeOf(work: () => unknown): string {
  try {
    return `no error but ${String(work())}`;
  } catch (error) {
    return error instanceof AppError ? error.code : `no AppError but ${String(error)}`;
  }
}

const contentOf = (cursor: string) =>
  JSON.parse(Buffer.from(cursor, "base64url").subarray(TAG_LENGTH).toString()) as object;

describe("cursors", () => {
  test("come back as the position they were made of, whatever that is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (after) => {
        fc.pre(after.isWellFormed());
        expect(cursors.read(cursors.make(after, query), query)).toBe(after);
      }),
    );
  });

  test("none is the first page", () => {
    expect(cursors.read(undefined, query)).toBeUndefined();
  });

  test("cursors can stand in a query as they are", () => {
    expect(cursors.make("F|0000|prf_1", query)).toMatch(/^[\w-]+$/);
  });

  test.each([
    ["another tenant", { ...query, platformId: "plt_2" }],
    ["another list", { ...query, list: "keys" }],
    ["another filter", { ...query, status: "active" }],
  ])("cursors of %s are refused", (_name, other) => {
    expect(codeOf(() => cursors.read(cursors.make("x", other), query))).toBe("invalid_cursor");
  });

  test("cursors of a later build, which say more, are read", () => {
    const text = JSON.stringify({ ...contentOf(cursors.make("prf_1", query)), later: "added" });
    const tag = hmacSha256(KEY, text).subarray(0, TAG_LENGTH);
    const later = Buffer.concat([tag, Buffer.from(text)]).toString("base64url");
    expect(cursors.read(later, query)).toBe("prf_1");
  });

  test("cursors of another secret are refused", () => {
    const foreign = createCursors({
      current: new Uint8Array(32).fill(2),
      previous: undefined,
    }).make("x", query);
    expect(codeOf(() => cursors.read(foreign, query))).toBe("invalid_cursor");
  });

  test("cursors that were changed or made up are refused and never break anything", () => {
    const cursor = cursors.make("F|0000|prf_1", query);
    fc.assert(
      fc.property(
        fc.nat(cursor.length - 1),
        fc.constantFrom(...Array.from("AZaz09-_")),
        (at, other) => {
          const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
          const same = Buffer.from(changed, "base64url").equals(Buffer.from(cursor, "base64url"));
          fc.pre(!same);
          expect(codeOf(() => cursors.read(changed, query))).toBe("invalid_cursor");
        },
      ),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(codeOf(() => cursors.read(text, query))).toBe("invalid_cursor");
      }),
    );
  });
});

describe("the query of a list", () => {
  const schema = z.strictObject(pageQuery());

  test.each([
    [{}, 25],
    [{ limit: "1" }, 1],
    [{ limit: "100" }, 100],
  ])("%j has the limit %i", (given, limit) => {
    expect(schema.parse(given).limit).toBe(limit);
  });

  test.each(["0", "101", "999999", "-1", "1.5", "1e2", "ten", "", " 5", "0x10"])(
    "limit=%j is refused",
    (limit) => {
      expect(schema.safeParse({ limit }).success).toBe(false);
    },
  );
});

describe("a page", () => {
  test("says where the next one starts, and that there is none at the end", () => {
    const double = (value: number) => value * 2;
    const make = (next: string) => `after ${next}`;
    expect(toPage({ items: [1, 2], next: "3" }, 2, make, double)).toEqual({
      items: [2, 4],
      nextCursor: "after 3",
      limit: 2,
    });
    expect(toPage({ items: [], next: undefined }, 2, make, double)).toEqual({
      items: [],
      nextCursor: null,
      limit: 2,
    });
  });
});
