import { describe, expect, test } from "vitest";
import { originOf, readServer, serverOrigin } from "../../src/shared/networks/contract/text.ts";

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
    "@ada@one.example.com @ada@two.example.com",
    "https://one.example.com/@ada, https://two.example.com/@ada",
    "[@ada@one.example.com](https://two.example.com/@ada)",
  ])("%j means nothing", (typed) => {
    expect(serverOrigin(typed)).toBeUndefined();
  });

  const home = { origin: "https://home.example.com", name: "ada" };
  test.each([
    "@ada@home.example.com",
    "ada@home.example.com",
    "@ada@HOME.example.com.",
    "＠ada＠home．example。com",
    "\u2068@ada@home.example.com\u2069",
    "\u200e@ada\u200b@home.example.com\u200f\u00a0",
    "\ufeff @ada@home.example.com\t",
    "acct:ada@home.example.com",
    "mailto:ada@home.example.com",
    "“@ada@home.example.com”,",
    "(@ada@home.example.com)",
    "<https://home.example.com/@ada>",
    "https://home.example.com/@ada",
    "https://home.example.com/@ada/",
    "HTTPS://home.example.com/@ada?utm_source=x#top",
    "home.example.com/@ada",
    "https://home.example.com/users/ada",
    "https://home.example.com/users/ada/statuses/1",
    "https://home.example.com/web/@ada",
    "https://home.example.com/deck/@ada/116000000000000000",
    "https://other.example.org/@ada@home.example.com",
    "https://other.example.org/web/@ada@home.example.com/116",
    "https://elk.zone/home.example.com/@ada",
    "https://elk.zone/other.example.org/@ada@home.example.com",
    "ada@home.example.com/",
    "ada @ home.example.com",
    "ada%40home.example.com",
    "https://home.example.com/%40ada",
    "Ada Lovelace (@ada@home.example.com)",
    "Ada Lovelace <ada@home.example.com>",
    "@ada@home.example.com (she/her)",
    "[@ada](https://home.example.com/@ada)",
    "my profile: https://home.example.com/@ada",
    "@ada@home.example.com (@ada@home.example.com)",
    "@ada@home.example.com, https://home.example.com/@ada",
    "https://https://home.example.com/@ada",
    "https:/home.example.com/@ada",
    "https//home.example.com/@ada",
    "https://phanpy.social/#/home.example.com/@ada",
    "https://client.example.org/#/user/ada@home.example.com",
  ])("%j names an account and its server", (typed) => {
    expect(readServer(typed)).toEqual(home);
  });

  test.each([
    "https://home.example.com/about",
    "home.example.com",
    "https://home.example.com/web/home",
    "https://https://home.example.com",
    "https://phanpy.social/#/home.example.com",
    "https://phanpy.social/#/home.example.com/a/116000000000000000",
    "https://home.example.com/#/about",
  ])("%j names a server alone", (typed) => {
    expect(readServer(typed)).toEqual({ origin: home.origin, name: undefined });
  });

  test("a document's address that is not of the web means nothing", () => {
    expect(originOf("file:///etc/passwd")).toBeUndefined();
    expect(originOf("not a url")).toBeUndefined();
  });
});
