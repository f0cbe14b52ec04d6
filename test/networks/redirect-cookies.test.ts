import { describe, expect, test } from "vitest";
import { RedirectCookies } from "../../src/shared/networks/contract/redirect-cookies.ts";

const AT = "https://www.example.com/a/b?c";

/** What an address gets after another one has set cookies, one a header. */
function sentTo(url: string, ...set: readonly string[]): string | undefined {
  const cookies = new RedirectCookies();
  cookies.take(AT, { "set-cookie": set.join("\n") });
  return cookies.headersFor(url).cookie;
}

describe("cookies of a chain of redirects", () => {
  test.each<[string, string, string | undefined]>([
    ["seen=1; Path=/; Secure; HttpOnly", "https://www.example.com/", "seen=1"],
    ["seen=1", "https://www.example.com/a/d", "seen=1"],
    ["seen=1", "https://www.example.com/a", "seen=1"],
    ["seen=1", "https://www.example.com/ab", undefined],
    ["seen=1", "https://example.com/a/b", undefined],
    ["seen=1", "https://cdn.www.example.com/a/b", undefined],
    ["seen=1; Domain=example.com", "https://cdn.example.com/a/b", "seen=1"],
    ["seen=1; domain=.Example.com; path=/", "https://example.com/", "seen=1"],
    ["seen=1; Domain=example.com", "https://badexample.com/a/b", undefined],
    ["seen=1; Domain=com; Path=/", "https://other.com/", undefined],
    ["seen=1; Domain=example.net; Path=/", "https://example.net/", undefined],
    ["a=x=y ; Path=/", "https://www.example.com/", "a=x=y"],
    ["none; Path=/", "https://www.example.com/", undefined],
    [
      "seen=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
      "https://www.example.com/",
      undefined,
    ],
    ["seen=1; Path=/; Expires=Sun, 29-Jul-2029 05:06:47 GMT", "https://www.example.com/", "seen=1"],
    ["seen=1; Path=/; Max-Age=0", "https://www.example.com/", undefined],
    ["seen=\u0001; Path=/", "https://www.example.com/", undefined],
  ])("%j is for %s: %j", (set, url, sent) => {
    expect(sentTo(url, set)).toBe(sent);
  });

  test("a later cookie replaces one of the same name, and may remove it", () => {
    expect(sentTo(AT, "a=1", "b=2", "a=3")).toBe("b=2; a=3");
    expect(sentTo(AT, "a=1", "b=2", "a=; Max-Age=-1")).toBe("b=2");
  });

  test("are few and short, whatever a server sets", () => {
    const many = Array.from({ length: 100 }, (_, index) => `c${index}=${index}`);
    expect(sentTo(AT, ...many)?.split("; ").length).toBe(20);
    expect(sentTo(AT, `a=${"x".repeat(5_000)}`, "b=2")).toBe("b=2");
    expect(sentTo(AT, ...many.slice(0, 3).map((one) => one + "x".repeat(4_000)))).toBeUndefined();
  });
});
