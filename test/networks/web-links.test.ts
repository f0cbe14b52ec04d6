import { expect, test } from "vitest";
import { linkedBy } from "../../src/shared/networks/mastodon/handle.ts";

const SELF = { rel: "self", type: "application/activity+json", href: "https://a.example/users/1" };

test.each([
  ["one link", { links: [SELF] }, [SELF.href]],
  [
    "several",
    { links: [SELF, { ...SELF, href: "https://b.example/" }] },
    [SELF.href, "https://b.example/"],
  ],
  [
    "one among others",
    { links: [{ rel: "profile", href: "https://p.example" }, SELF] },
    [SELF.href],
  ],
  [
    "one after a link without relation",
    { links: [{ href: "https://x.example" }, SELF] },
    [SELF.href],
  ],
  ["one after a link that is text", { links: ["https://x.example", SELF] }, [SELF.href]],
  ["one after null", { links: [null, SELF] }, [SELF.href]],
  ["one with further fields", { subject: 7, links: [{ ...SELF, titles: {} }] }, [SELF.href]],
  ["a link without address", { links: [{ rel: "self" }] }, []],
  ["an address that is a number", { links: [{ rel: "self", href: 7 }] }, []],
  ["a template only", { links: [{ rel: "self", template: "https://a.example/{uri}" }] }, []],
  ["no links", { links: [] }, []],
  ["links that are no list", { links: { self: SELF } }, []],
  ["no document", undefined, []],
  ["a list", [SELF], []],
])("the addresses of %s", (_name, json, expected) => {
  expect(linkedBy(json, "self", "href")).toEqual(expected);
});

test("the templates of a relation", () => {
  const template = "https://a.example/.well-known/webfinger?resource={uri}";
  const json = {
    links: [
      { rel: "lrdd", template },
      { rel: "other", template: "x" },
    ],
  };
  expect(linkedBy(json, "lrdd", "template")).toEqual([template]);
});
