import { describe, expect, test } from "vitest";
import { addressGroup, callerAddress } from "../../../src/shared/callers/caller-address.ts";

const forwarded = (value: string | undefined) =>
  new Headers(value === undefined ? {} : { "x-forwarded-for": value });

describe("the caller's address", () => {
  test.each([
    ["the last entry is the one that our proxy added", "203.0.113.9", 1, "203.0.113.9"],
    [
      "entries before it are the caller's inventions",
      "10.0.0.1, 1.2.3.4, 203.0.113.9",
      1,
      "203.0.113.9",
    ],
    ["two proxies of ours", "1.2.3.4, 203.0.113.9, 198.51.100.7", 2, "203.0.113.9"],
    ["fewer entries than proxies: the outermost there is", "203.0.113.9", 3, "203.0.113.9"],
    ["no proxy of ours: nothing of it is believed", "203.0.113.9", 0, "unknown"],
    ["no header", undefined, 1, "unknown"],
    ["an empty header", "", 1, "unknown"],
    ["an empty entry", "203.0.113.9,", 1, "unknown"],
    ["no address at all", "203.0.113.9, <script>", 1, "unknown"],
    ["a port", "203.0.113.9:51000", 1, "203.0.113.9"],
    ["IPv6", "2001:db8::1", 1, "2001:db8::1"],
    ["IPv6 in capitals", "2001:DB8::A", 1, "2001:db8::a"],
    ["IPv6 in brackets", "[2001:db8::1]", 1, "2001:db8::1"],
    ["IPv6 in brackets with a port", "1.2.3.4, [2001:db8::1]:443", 1, "2001:db8::1"],
    ["a port without an address", ":443", 1, "unknown"],
  ])("the caller's address: %s", (_name, header, hops, expected) => {
    expect(callerAddress(forwarded(header), hops)).toBe(expected);
  });
});

describe("what is counted as one caller", () => {
  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["unknown", "unknown"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:ffff::", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::ffff:cb00:7109", "203.0.113.9"],
    ["64:ff9b::203.0.113.9", "64:ff9b:0:0::/64"],
  ])("%s → %s", (address, expected) => {
    expect(addressGroup(address)).toBe(expected);
  });
});
