import { describe, expect, test } from "vitest";
import { isImpossibleName, misreadAddress } from "../../src/shared/runtime/web-address.ts";

const LONG = "a".repeat(63);

describe("an address is read as it is written", () => {
  test.each([
    "https://receiver.example.org/a",
    "HTTPS://Receiver.Example.org:8443/A?b=c#d",
    "https://receiver.example.org",
    "https://receiver.example.org?x=1",
    " https://receiver.example.org/a\n",
    "\u00a0https://receiver.example.org/a\ufeff",
    "https://receiver.example.org/a b/c",
    "https://receiver.example.org/caf\u00e9/%C3%A9/cafe\u0301",
    "https://receiver.example.org/%zz/{a}|b^c",
    "https://receiver.example.org/?next=https:/other&x=https:///y",
    "https://b\u00fccher.example.org/a",
    "https://bu\u0308cher.example.org/a",
    "https://B\u00dcCHER.example.org/a",
    "https://xn--bcher-kva.example.org/a",
    "https://stra\u00dfe.example.org/",
    "https://\u4f8b\u3048.\u30c6\u30b9\u30c8/",
    "https://my_shop.example.org/",
    "https://receiver.example.org./a",
    "https://8.8.8.8/a",
    "https://[2606:4700:4700:0:0:0:0:1111]/a",
    "https://user:secret@receiver.example.org/",
    "http://receiver.example.org/a",
    // No http or https address at all: others say so.
    "ftp:receiver\\example",
    "https://",
    "https://a b/",
    "",
  ])("an address is read as it is written: %j", (text) => {
    expect(misreadAddress(text)).toBeUndefined();
  });
});

describe("an address that would be read as another one is refused", () => {
  test.each([
    ["https://receiver.example.org/a\nb", "line breaks"],
    ["https://receiver.example.org/a\r\nb", "line breaks"],
    ["https://receiver.example.org\t/a", "line breaks"],
    ["https://rece\niver.example.org/a", "line breaks"],
    ["ht\ntps://receiver.example.org/a", undefined],
    ["\u0000https://receiver.example.org/a", undefined],
    ["https://receiver.example.org/a\u0000", "control characters"],
    ["https://receiver.example.org/a\u001f", "control characters"],
    ["https://receiver.example.org/a\u007fb", "control characters"],
    ["https://receiver.example.org/a\u0085b", "control characters"],
    ["https://receiver.example.org/a\u2028b", "line breaks"],
    ["https:\\\\receiver.example.org\\a", "backslash"],
    ["https://receiver.example.org\\@other.example.org/", "backslash"],
    ["https://receiver.example.org/a\\b", "backslash"],
    ["https://receiver.example.org/a?b=\\c", "backslash"],
    ["https:/receiver.example.org/a", "two slashes"],
    ["https:receiver.example.org/a", "two slashes"],
    ["https:///receiver.example.org/a", "two slashes"],
    ["https:////receiver.example.org/a", "two slashes"],
    ["https://@receiver.example.org/", "user name"],
    ["https://:@receiver.example.org/", "user name"],
    ["https://%72eceiver.example.org/", "host name"],
    ["https://receiver%2eexample.org/", "host name"],
    ["https://rece\u200biver.example.org/", "host name"],
    ["https://rece\u00adiver.example.org/", "host name"],
    ["https://\uff52eceiver.example.org/", "host name"],
    ["https://receiver\u3002example.org/", "host name"],
    ["https://8.8.8/", "host name"],
    ["https://010.8.8.8/", "host name"],
    ["https://0x08080808/", "host name"],
    ["https://134744072/", "host name"],
    ["https://\u2460.8.8.8/", "host name"],
    ["https://8.8.8.8./", "host name"],
  ])("an address that would be read as another one is refused: %j", (text, words) => {
    if (words !== undefined) expect(misreadAddress(text)).toContain(words);
    else expect(text.trim()).not.toMatch(/^https?:/);
  });
});

describe("a name that no server on the internet can have", () => {
  test.each([
    `${LONG}a.example.org`,
    `${`${LONG}.`.repeat(4)}org`,
    "a..example.org",
    ".example.org",
    "example.org..",
    "receiver",
    "receiver.invalid",
    "receiver.test.",
    "receiver.example",
    "duckduckgogg42xjoc72x3sjasowoarfbgcmvfimaftt6twagswzczad.onion",
    "printer.local",
    "router.home.arpa",
    "metadata.google.internal",
    "a.localhost",
    "name.alt",
  ])("a name that no server on the internet can have: %s", (name) => {
    expect(isImpossibleName(name)).toBe(true);
  });

  test.each([
    "example.com",
    "receiver.example.org.",
    `${LONG}.example.org`,
    "my_shop.example.org",
    "xn--bcher-kva.example.org",
    "test.example.org",
    "latest.dev",
  ])("a name such as %s may exist on the internet", (name) => {
    expect(isImpossibleName(name)).toBe(false);
  });
});
