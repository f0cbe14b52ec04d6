import { describe, expect, test } from "vitest";
import { originOf, serverOrigin } from "../../../src/shared/networks/contract/text.ts";

describe("an address that a person types", () => {
  test.each([
    ["mastodon.social", "https://mastodon.social"],
    ["  Mastodon.Social ", "https://mastodon.social"],
    ["@alice@mastodon.social", "https://mastodon.social"],
    ["alice@mastodon.social", "https://mastodon.social"],
    ["https://mastodon.social/@alice", "https://mastodon.social"],
    ["mastodon.social/@alice", "https://mastodon.social"],
    ["http://mastodon.social/", "https://mastodon.social"],
    ["https://user:secret@mastodon.social/x", "https://mastodon.social"],
    ["mastodon.social.", "https://mastodon.social"],
    ["mastodon.social:8443", "https://mastodon.social:8443"],
    ["\u200bmastodon.social\u00a0", "https://mastodon.social"],
    ["münchen.social", "https://xn--mnchen-3ya.social"],
    ["http://localhost:3000/x", "http://localhost:3000"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["https://mastodon.social?x=1#y", "https://mastodon.social"],
  ])("%j means %s", (typed, origin) => {
    expect(serverOrigin(typed)).toBe(origin);
  });

  test.each([
    "",
    " ",
    "mastodon",
    "@alice",
    "ftp://mastodon.social",
    "javascript:alert(1)",
    "a b.c",
    "https://",
    "x".repeat(501),
    "https:///x",
    "a..b",
  ])("%j means nothing", (typed) => {
    expect(serverOrigin(typed)).toBeUndefined();
  });

  test("a document's address that is not of the web means nothing", () => {
    expect(originOf("file:///etc/passwd")).toBeUndefined();
    expect(originOf("not a url")).toBeUndefined();
  });
});
