import { describe, expect, test } from "vitest";
import { idShape } from "../../src/shared/networks/contract/answers.ts";
import { boundedResult } from "../../src/shared/networks/contract/bounded.ts";

const URL = "https://a.test/1";

describe("an id that a network answers", () => {
  test.each([
    "117693914821885952",
    "urn:li:share:7",
    "at://did:plc:a/app.bsky.feed.post/3k",
    "a..b",
    "1.2",
  ])("%s is taken", (id) => {
    expect(idShape().parse(id)).toBe(id);
    expect(boundedResult({ externalId: id, url: URL })).toEqual({ externalId: id, url: URL });
  });

  test.each([
    "",
    "1\r\nx: y",
    "1\u0000",
    "\u009b2J",
    "\ud800",
    "9".repeat(501),
    "..",
    "../me",
    "1/..",
    "a\\..\\b",
    ".",
  ])("%j is no id", (id) => {
    expect(idShape().safeParse(id).success).toBe(false);
    expect(boundedResult({ externalId: id, url: URL })).toEqual({ externalId: null, url: URL });
  });
});
