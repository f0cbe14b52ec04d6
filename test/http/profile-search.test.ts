import { beforeEach, describe, expect, test } from "vitest";
import {
  aKey,
  aLinkedAccount,
  anApplication,
  aProfile,
  dataOf,
  outcomeOf,
  type TestApplication,
} from "../setup/factories.ts";
import type { Answer, CallOptions } from "../setup/relay.ts";
import { saveLinked } from "../setup/stored.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { useRelay } from "../setup/use-relay.ts";
import { eraseProfiles } from "../setup/walks.ts";

const relay = useRelay();
let application: TestApplication;

beforeEach(async () => {
  application = await anApplication(relay);
});

async function named(title: string, externalId: string | null = null): Promise<string> {
  relay.advance(1);
  return (await aProfile(relay, application, { title, externalId })).id;
}

function search(q: string, more = "", options: CallOptions = {}): Promise<Answer> {
  const caller =
    options.session === undefined && options.key === undefined ? { key: application.key } : {};
  const path = `/v1/profiles?q=${encodeURIComponent(q)}${more}`;
  return relay.call("GET", path, { ...caller, ...options });
}

const titles = async (q: string, more = ""): Promise<string[]> =>
  dataOf(await search(q, more)).map(({ title }: { readonly title: string }) => title);

/** The titles on every page of a search. */
async function pagesOf(q: string, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor = ""; ;) {
    const answer = await search(q, `&limit=${limit}${cursor}`);
    pages.push(dataOf(answer).map(({ title }: { readonly title: string }) => title));
    const { nextCursor, hasMore } = answer.body.page;
    expect(hasMore).toBe(nextCursor !== null);
    if (nextCursor === null) return pages;
    cursor = `&cursor=${nextCursor}`;
  }
}

describe("a search of profiles", () => {
  test("finds the beginning of titles, without case and accents, in their order", async () => {
    for (const title of ["Café Zoë", "CAFE Anna", "Cafeteria", "Le Café", "Bakery", "cafe"])
      await named(title);
    const found = ["cafe", "CAFE Anna", "Café Zoë", "Cafeteria"];
    for (const q of ["ca", "CAFÉ", " cafe\u0301 ", "Ｃａｆｅ"])
      expect(await titles(q), q).toEqual(found);
    expect(await titles("cafe z")).toEqual(["Café Zoë"]);
    expect(await titles("cafex")).toEqual([]);
    expect(await titles("fe")).toEqual([]);
  });

  test.each([
    ["Joe's / Sons #1?", "joe's / sons #"],
    ["50 % & more | less", "50 % &"],
    ["東京ベーカリー", "東京"],
    ["🥐 Boulangerie", "🥐 b"],
    ["Straße 7", "STRASSE"],
    ["ΟΔΟΣ ΑΒ", "οδος"],
    ["İstanbul", "is"],
    ["two  \t words", "two words"],
    [`${"long ".repeat(20)}end`, "long long long"],
    ["!2f is no slash", "!2F"],
  ])("finds %j by %j", async (title, q) => {
    await named(title);
    await named("another one");
    expect(await titles(q)).toEqual([title.trim()]);
  });

  test("finds an external id, and lists a profile once: under its title if that matches", async () => {
    await named("Zebra", "customer-42");
    await named("Customer 42", "customer-43");
    await named("customer-44", "CUSTOMER-44");
    await named("Yak", "other");
    expect(await titles("customer")).toEqual(["Customer 42", "Zebra", "customer-44"]);
    expect(await titles("customer-43")).toEqual(["Customer 42"]);
    expect(await titles("zeb")).toEqual(["Zebra"]);
    expect((await pagesOf("customer", 1)).flat()).toEqual(["Customer 42", "Zebra", "customer-44"]);
  });

  test("pages through all of them, each once", async () => {
    const all: string[] = [];
    for (let count = 10; count < 17; count += 1) {
      all.push(`Shop ${count}`);
      await named(`Shop ${count}`, `shop-${count}`);
    }
    expect(await pagesOf("shop", 7)).toEqual([all]);
    for (const limit of [1, 2, 3, 6]) expect((await pagesOf("shop", limit)).flat()).toEqual(all);
  });

  test("follows a changed title and external id, and forgets what is erased", async () => {
    const id = await named("Before", "ref-one");
    const { key } = application;
    const path = `/v1/profiles/${id}`;
    const patch = async (body: object) => dataOf(await relay.call("PATCH", path, { key, body }));
    await patch({ title: "After" });
    expect(await titles("before")).toEqual([]);
    expect(await titles("after")).toEqual(["After"]);
    await patch({ externalId: "after-all" });
    expect(await titles("ref-one")).toEqual([]);
    expect(await titles("after")).toEqual(["After"]);
    await patch({ title: "Other" });
    expect(await titles("after")).toEqual(["Other"]);
    await patch({ externalId: null, metadata: { a: "b" } });
    expect(await titles("after")).toEqual([]);
    await patch({ status: "disabled" });
    expect(await titles("other")).toEqual(["Other"]);
    dataOf(await relay.call("POST", `${path}/erase`, { key }));
    expect(await titles("other")).toEqual([]);
    expect(dataOf(await search("erased"))).toMatchObject([{ id, status: "erasing" }]);
    for (let round = 0; round < 6; round += 1) {
      await eraseProfiles(relay.services);
      relay.advance(11 * 60_000);
    }
    expect(await titles("erased")).toEqual([]);
    const left = (await storedRows(relay)).filter(({ rowKey }) => rowKey.includes(id));
    expect(left.map(({ rowKey }) => rowKey)).toEqual([]);
  });

  test("shows a profile with its connections, as the profile itself does", async () => {
    const id = await named("Corner Bakery");
    const platformId = application.platform.id;
    const owner = { platformId, applicationId: application.id, profileId: id };
    await saveLinked(relay.services, owner, "bluesky", aLinkedAccount("corner.example"));
    const [found] = dataOf(await search("corner"));
    const path = `/v1/profiles/${id}`;
    expect(found).toEqual(dataOf(await relay.call("GET", path, { key: application.key })));
    expect(found.connections).toHaveLength(1);
  });

  test("a profile whose title has only accents can be made, changed and listed", async () => {
    const id = await named("\u0301\u0302");
    const path = `/v1/profiles/${id}`;
    const body = { title: "plain" };
    dataOf(await relay.call("PATCH", path, { key: application.key, body }));
    expect(await titles("plain")).toEqual(["plain"]);
  });

  test("leaves out damaged rows", async () => {
    const ids = [await named("Damaged 1"), await named("Damaged 2"), await named("Damaged 3")];
    const { id: platformId } = application.platform;
    const rows = await storedRows(relay);
    const damage = async (prefix: string, id: string | undefined, columns: object) => {
      const isIt = (key: string) => key.startsWith(prefix) && key.endsWith(id ?? "none");
      const rowKey = rows.find((row) => isIt(row.rowKey))?.rowKey ?? "";
      await relay.tables.core.putProperties(platformId, { rowKey, ...columns });
    };
    await damage("F|", ids[0], { status: 3 });
    await damage("FT|", ids[1], { needs: "what no build has" });
    expect(await titles("damaged")).toEqual(["Damaged 3"]);
  });
});

describe("what a caller may find", () => {
  test("an application's keys find its own profiles alone, and a session those that it names", async () => {
    const sibling = await anApplication(relay, application.platform);
    const foreign = await anApplication(relay);
    await named("Mine");
    await aProfile(relay, sibling, { title: "Mine too" });
    await aProfile(relay, foreign, { title: "Mine as well" });
    expect(await titles("mine")).toEqual(["Mine"]);
    const { session } = application.platform;
    const bare = await search("mine", "", { session });
    expect(outcomeOf(bare)).toBe("400 application_header_required");
    const headers = { "x-application-id": sibling.id };
    const found = dataOf(await search("mine", "", { session, headers }));
    expect(found.map(({ title }: { readonly title: string }) => title)).toEqual(["Mine too"]);
    const unknown = { "x-application-id": foreign.id };
    expect(outcomeOf(await search("mine", "", { session, headers: unknown }))).toBe(
      "404 not_found",
    );
  });

  test("a restricted key finds profiles of its allowlist", async () => {
    await named("Mine 1");
    const allowed = await named("Mine 2");
    await named("Mine 3", "mine-3");
    const { secret: key } = await aKey(relay, application, {
      scope: "restricted",
      allowedProfileIds: [allowed],
    });
    const found = await search("mine", "", { key });
    expect(dataOf(found).map(({ id }: { readonly id: string }) => id)).toEqual([allowed]);
    const cursor = (await search("mine", "&limit=1")).body.page.nextCursor;
    expect(outcomeOf(await search("mine", `&cursor=${cursor}`, { key }))).toBe(
      "400 invalid_cursor",
    );
    expect(outcomeOf(await search("min", `&cursor=${cursor}`))).toBe("400 invalid_cursor");
  });

  test.each([
    ["of one character", "q=a", ["q"]],
    ["of one character and spaces", "q=%20a%20", ["q"]],
    ["that is empty", "q=", ["q"]],
    ["of 65 characters", `q=${"a".repeat(65)}`, ["q"]],
    ["of accents alone", `q=${encodeURIComponent("\u0301\u0301")}`, ["q"]],
    ["with an external id", "q=mine&externalId=mine", ["q"]],
    ["with a status", "q=mine&status=active", ["q"]],
    [
      "with a status, and other mistakes",
      "q=mine&status=gone&limit=0&x=1",
      ["limit", "q", "status", "x"],
    ],
  ])("refuses a text %s", async (_, query, paths) => {
    const { status, body } = await relay.call("GET", `/v1/profiles?${query}`, {
      key: application.key,
    });
    expect(status).toBe(400);
    const found = body.error.details.issues.map(({ path }: { readonly path: string }) => path);
    expect(found.sort()).toEqual(paths);
  });

  test("takes a text of 64 characters", async () => {
    await named("a".repeat(120));
    expect(await titles("a".repeat(64))).toEqual(["a".repeat(120)]);
  });
});
