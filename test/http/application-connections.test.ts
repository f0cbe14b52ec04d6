import { beforeEach, describe, expect, test } from "vitest";
import type { Connection } from "../../src/shared/connections/connection.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
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
import { findConnection, revokeConnection, saveLinked } from "../setup/stored.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();
const DAY_MS = 24 * 60 * 60_000;

let application: TestApplication;
/** The ids of profiles, by their titles. */
let profiles: Readonly<Record<"first" | "second", string>>;

beforeEach(async () => {
  application = await anApplication(relay);
  profiles = {
    first: (await aProfile(relay, application, { title: "First" })).id,
    second: (await aProfile(relay, application, { title: "Second" })).id,
  };
});

const ownerOf = (profileId: string) => ({
  platformId: application.platform.id,
  applicationId: application.id,
  profileId,
});

let accounts = 0;

/** Links an account of its own, and returns the id of the connection. */
async function link(
  profileId: string,
  network: NetworkName = "bluesky",
  { expiresInDays, account }: { readonly expiresInDays?: number; readonly account?: string } = {},
): Promise<string> {
  relay.advance(1);
  accounts += 1;
  const ends = new Date(relay.clock.now().getTime() + (expiresInDays ?? 0) * DAY_MS);
  const expiresAt = expiresInDays === undefined ? null : ends.toISOString();
  const linked = aLinkedAccount(account ?? `account-${accounts}`, { expiresAt });
  return await saveLinked(relay.services, ownerOf(profileId), network, linked);
}

async function stored(profileId: string, network: NetworkName = "bluesky"): Promise<Connection> {
  const found = await findConnection(relay.services, ownerOf(profileId), network);
  if (found === undefined) throw new Error("nothing is linked");
  return found;
}

const store = () => relay.services.connections.stores.connections;
const refuse = async (profileId: string, network?: NetworkName) =>
  store().mark(await stored(profileId, network), {
    code: "connection_needs_reauth",
    networkCode: null,
  });
const warn = async (profileId: string) =>
  relay.services.connections.stores.accountChecks.recordWarned(await stored(profileId));

function call(query = "", options: CallOptions = {}): Promise<Answer> {
  const caller =
    options.session === undefined && options.key === undefined ? { key: application.key } : {};
  const path = `/v1/applications/${application.id}/connections${query}`;
  return relay.call("GET", path, { ...caller, ...options });
}

const listed = async (query = ""): Promise<string[]> =>
  dataOf(await call(query)).map(({ id }: { readonly id: string }) => id);

/** Every page of a list, one after the other. */
async function pagesOf(query: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor = ""; ;) {
    const answer = await call(`${query}${cursor}`);
    pages.push(dataOf(answer).map(({ id }: { readonly id: string }) => id));
    const { nextCursor, hasMore } = answer.body.page;
    expect(hasMore).toBe(nextCursor !== null);
    if (nextCursor === null) return pages;
    cursor = `&cursor=${nextCursor}`;
  }
}

describe("the connections of an application", () => {
  test("lists those of every profile, newest first, each as the profile's own list has it", async () => {
    expect(await listed()).toEqual([]);
    const one = await link(profiles.first);
    const two = await link(profiles.second, "linkedin", { expiresInDays: 60 });
    const three = await link(profiles.first, "mastodon");
    expect(await listed()).toEqual([three, two, one]);
    const [, second] = dataOf(await call());
    const path = `/v1/profiles/${profiles.second}/connections`;
    const [own] = dataOf(await relay.call("GET", path, { key: application.key }));
    expect(second).toEqual({ ...own, profile: { id: profiles.second, title: "Second" } });
    expect(second.quota).toMatchObject({ used: 0 });
  });

  test("shows the title that the profile has now", async () => {
    await link(profiles.first);
    const body = { title: "Renamed" };
    const path = `/v1/profiles/${profiles.first}`;
    dataOf(await relay.call("PATCH", path, { key: application.key, body }));
    const [{ profile }] = dataOf(await call());
    expect(profile).toEqual({ id: profiles.first, title: "Renamed" });
  });

  test("pages through all of them, each once, also with a filter", async () => {
    const ids: string[] = [];
    const bluesky: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { id } = await aProfile(relay, application);
      bluesky.unshift(await link(id));
      ids.unshift(bluesky[0] ?? "");
      ids.unshift(await link(id, "mastodon"));
    }
    const pages = await pagesOf("?limit=3");
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 2]);
    expect(pages.flat()).toEqual(ids);
    expect(await pagesOf("?limit=2&platform=bluesky")).toEqual([
      bluesky.slice(0, 2),
      bluesky.slice(2),
    ]);
    expect((await pagesOf("?limit=3&status=active")).flat()).toEqual(ids);
    expect(await pagesOf("?limit=8")).toEqual([ids]);
  });

  test("filters by network and status as accounts are refused, linked again and unlinked", async () => {
    const one = await link(profiles.first, "bluesky", { account: "one" });
    const two = await link(profiles.second);
    const three = await link(profiles.first, "mastodon");
    expect(await listed("?status=active")).toEqual([three, two, one]);
    expect(await listed("?status=attention")).toEqual([]);
    await refuse(profiles.first);
    expect(await listed("?status=needs_reauth")).toEqual([one]);
    expect(await listed("?status=attention")).toEqual([one]);
    expect(await listed("?status=active")).toEqual([three, two]);
    expect(await listed("?status=attention&platform=mastodon")).toEqual([]);
    await link(profiles.first, "bluesky", { account: "one" });
    expect(await listed("?status=attention")).toEqual([]);
    expect(await listed("?status=active&platform=bluesky")).toEqual([two, one]);
    await refuse(profiles.second);
    await store().mark(await stored(profiles.second), null);
    expect(await listed("?status=needs_reauth")).toEqual([]);
    await refuse(profiles.second);
    await revokeConnection(relay.services, await stored(profiles.second));
    expect(await listed("?status=needs_reauth")).toEqual([]);
    expect(await listed("?status=attention")).toEqual([]);
    expect(await listed("?status=revoked")).toEqual([two]);
    expect(await listed()).toEqual([three, two, one]);
  });

  test("leaves out an account once its profile links another one in its place", async () => {
    const old = await link(profiles.first);
    await refuse(profiles.first);
    const other = await link(profiles.first);
    expect(other).not.toBe(old);
    expect(await listed()).toEqual([other]);
    expect(await listed("?status=attention")).toEqual([]);
  });

  test("lists an authorization that ends soon from its warning until it is renewed past that", async () => {
    const id = await link(profiles.first, "bluesky", { expiresInDays: 3 });
    expect(await listed("?status=attention")).toEqual([]);
    await warn(profiles.first);
    expect(await listed("?status=attention")).toEqual([id]);
    expect(await listed("?status=needs_reauth")).toEqual([]);
    await refuse(profiles.first);
    expect(await listed("?status=attention")).toEqual([id]);
    await store().mark(await stored(profiles.first), null);
    expect(await listed("?status=attention")).toEqual([id]);
    const renew = async (days: number) => {
      const ends = new Date(relay.clock.now().getTime() + days * DAY_MS).toISOString();
      const connection = await stored(profiles.first);
      const fresh = { credentials: {} as never, expiresAt: ends };
      expect(await store().saveRefreshed(connection, fresh)).toMatchObject({ expiresAt: ends });
    };
    await renew(6);
    expect(await listed("?status=attention")).toEqual([id]);
    await renew(60);
    expect(await listed("?status=attention")).toEqual([]);
    expect((await stored(profiles.first)).warnedExpiresAt).toBeNull();
    expect(await listed("?status=active")).toEqual([id]);
  });

  test("unlinking an account that was warned of takes it off the list", async () => {
    const id = await link(profiles.first, "bluesky", { expiresInDays: 3 });
    await warn(profiles.first);
    await revokeConnection(relay.services, await stored(profiles.first));
    expect(await listed("?status=attention")).toEqual([]);
    expect(await listed("?status=revoked")).toEqual([id]);
  });

  test("leaves out damaged rows, and shows the others", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { id } = await aProfile(relay, application);
      ids.unshift(await link(id));
    }
    const { id: platformId } = application.platform;
    const rows = (await storedRows(relay)).filter(
      ({ partitionKey }) => partitionKey === platformId,
    );
    const damage = async (prefix: string, text: string, columns: object) => {
      const found = rows.find((row) => row.rowKey.startsWith(prefix) && row.text.includes(text));
      if (found === undefined) throw new Error(`there is no row ${prefix} of ${text}`);
      await relay.tables.core.putProperties(platformId, { rowKey: found.rowKey, ...columns });
    };
    await damage("CA|", ids[1] ?? "", { network: 3 });
    await damage("C|", ids[2] ?? "", { generation: "1" });
    expect(await listed()).toEqual([ids[0], ids[3]]);
    expect(await listed("?platform=bluesky")).toEqual([ids[0], ids[3]]);
  });
});

describe("what a caller may read", () => {
  test("a key reads its own application alone, whatever X-Application-Id says", async () => {
    await link(profiles.first);
    const sibling = await anApplication(relay, application.platform);
    const headers = { "x-application-id": sibling.id };
    expect(outcomeOf(await call("", { headers }))).toBe("200");
    expect(outcomeOf(await call("", { key: sibling.key }))).toBe("404 not_found");
    const own = `/v1/applications/${sibling.id}/connections`;
    expect(dataOf(await relay.call("GET", own, { key: sibling.key }))).toEqual([]);
  });

  test("a session reads every application of its platform, unless it names another one", async () => {
    const id = await link(profiles.first);
    const { session } = application.platform;
    const sibling = await anApplication(relay, application.platform);
    expect(dataOf(await call("", { session })).map((one: { id: string }) => one.id)).toEqual([id]);
    const named = { "x-application-id": application.id };
    expect(outcomeOf(await call("", { session, headers: named }))).toBe("200");
    const other = { "x-application-id": sibling.id };
    expect(outcomeOf(await call("", { session, headers: other }))).toBe("404 not_found");
  });

  test("another tenant finds nothing, and a restricted key may not ask", async () => {
    await link(profiles.first);
    const foreign = await anApplication(relay);
    const { session } = foreign.platform;
    for (const caller of [{ session }, { key: foreign.key }])
      expect(outcomeOf(await call("", caller))).toBe("404 not_found");
    const { secret } = await aKey(relay, application, {
      scope: "restricted",
      allowedProfileIds: [profiles.first],
    });
    expect(outcomeOf(await call("", { key: secret }))).toBe("403 app_admin_required");
  });

  test("a cursor is only good for the list and the filters that it came from", async () => {
    await link(profiles.first);
    await link(profiles.second);
    const cursor = (await call("?limit=1")).body.page.nextCursor;
    expect(outcomeOf(await call(`?cursor=${cursor}`))).toBe("200");
    for (const query of ["?status=active", "?platform=bluesky", "?status=attention"])
      expect(outcomeOf(await call(`${query}&cursor=${cursor}`)), query).toBe("400 invalid_cursor");
    const posts = `/v1/applications/${application.id}/posts?cursor=${cursor}`;
    const elsewhere = await relay.call("GET", posts, { key: application.key });
    expect(outcomeOf(elsewhere)).toBe("400 invalid_cursor");
  });

  test("all mistakes of a query are named", async () => {
    const { status, body } = await call("?status=gone&platform=myspace&limit=0&x=1");
    expect(status).toBe(400);
    const paths = body.error.details.issues.map(({ path }: { readonly path: string }) => path);
    expect(paths.sort()).toEqual(["limit", "platform", "status", "x"]);
  });
});
