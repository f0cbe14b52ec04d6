import { describe, expect, test } from "vitest";
import { readForm } from "../../src/shared/http/parse-input.ts";
import { redact } from "../../src/shared/runtime/log.ts";
import { rowOf, rows, errorTable, noteOf } from "../../src/shared/networks/contract/answers.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { DraftBody } from "../../src/shared/publishing/accept/schema.ts";
import { draft, images, rules } from "../networks/drafts.ts";

describe("a text that is far too long", () => {
  const bluesky = networkOf("bluesky");
  const instagram = networkOf("instagram");

  test("a text that is far too long is refused by the rules that refuse what is too long", () => {
    const text = "é".repeat(12_001);
    const both = ["error bluesky.text.graphemes", "error bluesky.text.bytes"];
    expect(rules(bluesky.check(draft({ text }), {}))).toEqual(both);
    expect(rules(bluesky.check(draft({ text: text.slice(0, 400) }), {}))).toEqual(both.slice(0, 1));
  });

  test("a text that is far too long is not counted as readers count; up to there every text is", () => {
    const family = "👩‍👩‍👧";
    const text = family.repeat(12_000 / family.length);
    expect(bluesky.measure(draft({ text }), {}).usedCharacters).toBe(12_000 / family.length);
    expect(bluesky.measure(draft({ text: `${text}x` }), {}).usedCharacters).toBe(12_001);
  });

  test("a text that is far too long is not searched for hashtags", () => {
    const media = images(1);
    const tags = (length: number) => "#a ".repeat(length / 3).padEnd(length);
    const judge = (length: number) =>
      rules(instagram.check(draft({ text: tags(length), media }), {}));
    expect(judge(8_800)).toEqual(["error instagram.text.length", "error instagram.text.hashtags"]);
    expect(judge(8_801)).toEqual(["error instagram.text.length"]);
  });
});

test("a link of any length counts as Mastodon counts it", () => {
  const mastodon = networkOf("mastodon");
  const text = `https://a.com/${"a".repeat(1_900)}?${"b".repeat(1_900)} and words`;
  expect(mastodon.measure(draft({ text }), {}).usedCharacters).toBe(33);
});

test("a language tag that is too long is not judged any further", () => {
  const langs = ["en-variant-longer-than-thirty-five-x"];
  const body = { platforms: ["bluesky"], platformOptions: { bluesky: { langs } } };
  const { error } = DraftBody().safeParse(body);
  expect(error?.issues.map(({ code }) => code)).toEqual(["too_big"]);
});

test("a form of more fields than any of ours is refused", async () => {
  const formOf = (fields: number) =>
    readForm({
      method: "POST",
      url: new URL("https://relay.example/connect"),
      headers: new Headers({ "content-type": "application/x-www-form-urlencoded" }),
      params: {},
      body: () => Promise.resolve(Buffer.from("a=b&".repeat(fields - 1) + "c=d")),
    });
  await expect(formOf(100)).resolves.toMatchObject({ value: { a: "b", c: "d" } });
  await expect(formOf(101)).rejects.toMatchObject({ code: "validation_failed" });
});

test("of a network's message the first 2,000 characters are looked at", () => {
  const meaning = { code: "text_invalid", effect: "refuse" } as const;
  const table = errorTable(rows(meaning, { message: /words/ }));
  const codeOf = (message: string) =>
    rowOf(table, { status: 400, message }, { code: "outcome_unknown", effect: "doubt" }).code;
  expect(codeOf(`${" ".repeat(1_995)}words`)).toBe("text_invalid");
  expect(codeOf(`${" ".repeat(1_996)}words`)).toBe("invalid_request");
});

test.each([
  "eyJhbGciOiJIUzI1NiJ9",
  "eyJhbGciOiJIUzI1NiJ9.",
  "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln",
])("no part of the token %s is shown", (token) => {
  expect(redact(`token ${token} ended`)).toBe("token [redacted] ended");
  expect(noteOf(`token ${token} ended`)).toBe("token [redacted] ended");
});
