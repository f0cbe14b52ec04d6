import { describe, expect, test } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import { aCharge } from "../setup/a-charge.ts";
import { chargeTogether } from "../../src/shared/ledger/ledger.ts";
import { dyingAt, type Death } from "../setup/dying-relay.ts";
import {
  aPlatform,
  anApplication,
  dataOf,
  freshSession,
  outcomeOf,
  PASSWORD,
} from "../setup/factories.ts";
import { forTest } from "../setup/for-file.ts";
import { unique } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { eraseProfiles, findForgottenWork } from "../setup/walks.ts";

const DAY_MS = 24 * 60 * 60_000;
const WRITES_MAX = 40;
let requests = 0;

const relay = forTest(() =>
  startRelay({
    tableFault() {
      requests += 1;
      return "pass";
    },
  }),
);
const operator = ["Operator"];

const search = (query: string) => relay.call("GET", `/v1/admin/platforms?${query}`, { operator });
const found = async (q: string): Promise<string[]> =>
  dataOf(await search(`q=${encodeURIComponent(q)}`)).map(({ id }: { readonly id: string }) => id);

describe("an operator finds a platform", () => {
  test("by its id, the email of one of its staff, or the beginning of its name", async () => {
    const owner = await aPlatform(relay, { name: "Café Lumière" });
    const other = await aPlatform(relay, { name: "Cafeteria" });
    await aPlatform(relay, { name: "The Café" });
    expect(await found(owner.id)).toEqual([owner.id]);
    expect(await found(owner.email)).toEqual([owner.id]);
    expect(await found(owner.email.toUpperCase())).toEqual([owner.id]);
    expect(await found("CAFE")).toEqual([owner.id, other.id]);
    expect(await found(" cafe\u0301  LUMI")).toEqual([owner.id]);
    expect(await found("lumière")).toEqual([]);
    expect(await found(owner.email.slice(0, -1))).toEqual([]);
    expect(await found(newId("platform", relay.clock.now()))).toEqual([]);
    const [summary] = dataOf(await search("q=cafe"));
    const [listed] = dataOf(await search("")).filter(({ id }: { id: string }) => id === owner.id);
    expect(summary).toEqual(listed);
  });

  test("by the email of a member, and not by one that was given up", async () => {
    const { id, session, userId } = await aPlatform(relay, { name: "Members" });
    const other = await aPlatform(relay, { name: "Others" });
    await relay.services.people.stores.emails.claim(
      "gone@example.com",
      { platformId: id, userId },
      relay.clock.now().toISOString(),
    );
    expect(await found("gone@example.com")).toEqual([]);
    expect(session).not.toBe("");
    expect(await found(other.email)).toEqual([other.id]);
  });

  test("by a name with marks of its own, in the order of names, page by page", async () => {
    const names = ["AT&T", "at & t", "At-home", "Atlas", "ATLAS 2", "50% off", "!bang", "a/b|c"];
    const ids = new Map<string, string>();
    for (const name of names) ids.set(name, (await aPlatform(relay, { name, tokens: 0 })).id);
    for (const name of names) expect(await found(name), name).toContain(ids.get(name));
    expect(await found("at&")).toEqual([ids.get("AT&T")]);
    expect(await found("a/b|")).toEqual([ids.get("a/b|c")]);
    expect(await found("50%")).toEqual([ids.get("50% off")]);
    const all = await found("at");
    const pages: string[] = [];
    for (let cursor = ""; ;) {
      const { body } = await search(`q=at&limit=2${cursor}`);
      pages.push(...body.data.map(({ id }: { readonly id: string }) => id));
      if (body.page.nextCursor === null) break;
      cursor = `&cursor=${body.page.nextCursor}`;
      expect(outcomeOf(await search(`limit=2${cursor}`))).toBe("400 invalid_cursor");
    }
    expect(pages).toEqual(all);
    expect(all).toHaveLength(5);
  });

  test("of two with one name, each once, and none that was closed and erased", async () => {
    const [left, right] = [
      await aPlatform(relay, { name: "Twins", tokens: 0 }),
      await aPlatform(relay, { name: "twins", tokens: 0 }),
    ];
    expect((await found("twins")).toSorted()).toEqual([left.id, right.id].toSorted());
    const session = await freshSession(relay, left);
    dataOf(await relay.call("POST", "/v1/platform/close", { session, body: { name: "Twins" } }));
    expect(await found("twins")).toContain(left.id);
    for (let day = 0; day < 10; day += 1) {
      for (let round = 0; round < 4; round += 1) {
        await eraseProfiles(relay.services);
        relay.advance(11 * 60_000);
      }
      relay.advance(DAY_MS);
    }
    expect(await found("twins")).toEqual([right.id]);
    const rows = await storedRows(relay);
    const names = rows.filter(({ partitionKey }) => partitionKey === "platform-names");
    expect(names.map(({ rowKey }) => rowKey.slice(-30))).toEqual([right.id]);
  });

  test("not with less than two characters, and gets an error for a plus sign that was lost", async () => {
    for (const q of ["", "a", "%20a%20", "x".repeat(255)]) {
      const answer = await search(`q=${q}`);
      expect(answer.body.error?.details.issues, q).toMatchObject([{ path: "q" }]);
    }
    const lost = await search("q=ann+news@example.com");
    expect(lost.body.error.details.issues).toMatchObject([
      { path: "q", message: expect.stringContaining("%2B") },
    ]);
    for (const q of ["%CC%81%CC%81", "%00%00", "'; drop", "zz", "é".repeat(100)])
      expect(dataOf(await search(`q=${encodeURIComponent(decodeURIComponent(q))}`)), q).toEqual([]);
  });

  test("with a bounded number of requests", async () => {
    relay.storage?.giveWholePages();
    const owner = await aPlatform(relay, { name: "Counted", tokens: 0 });
    for (let count = 0; count < 30; count += 1)
      await aPlatform(relay, { name: `Counted ${count}`, tokens: 0 });
    const counted = async (query: string) => {
      requests = 0;
      const { length } = dataOf(await search(query));
      return [length, requests];
    };
    // What the limit of an operator's requests needs comes on top.
    await counted("q=zz");
    // The platform and its wallet.
    expect(await counted(`q=${owner.id}`)).toEqual([1, 2]);
    // The claim of the address and its user, too.
    expect(await counted(`q=${owner.email}`)).toEqual([1, 4]);
    expect(await counted("q=counted&limit=25")).toEqual([25, 51]);
    expect(await counted("q=counted&limit=100")).toEqual([31, 63]);
  });
});

describe("a platform's ledger", () => {
  const usage = (id: string, query = "", roles = operator) =>
    relay.call("GET", `/v1/admin/platforms/${id}/usage${query}`, { operator: roles });

  test("has what its own session sees, with every filter and with totals", async () => {
    const own = await anApplication(relay);
    const other = await anApplication(relay, own.platform);
    for (const { id } of [own, other, own]) {
      const of = { applicationId: id };
      await chargeTogether(relay.services.ledger, own.platform.id, [
        aCharge(unique("spend"), 1, of),
      ]);
      relay.advance(1_000);
    }
    const { session } = own.platform;
    const at = relay.clock.now().toISOString();
    for (const query of [
      "",
      "?limit=100",
      `?applicationId=${own.id}`,
      "?operation=billing.credit",
      `?from=${at}`,
      `?to=${at}`,
      "?profileId=prf_x",
      "?groupBy=operation",
      `?groupBy=application&applicationId=${own.id}`,
    ]) {
      const seen = await relay.call("GET", `/v1/billing/usage${query}`, { session });
      const read = await usage(own.platform.id, query);
      expect(read.body, query).toEqual(seen.body);
    }
    expect(dataOf(await usage(own.platform.id)).length).toBe(4);
  });

  test("is read to its end, with cursors that are good for no other platform", async () => {
    const [own, other] = [await aPlatform(relay), await aPlatform(relay)];
    for (let count = 0; count < 5; count += 1)
      await chargeTogether(relay.services.ledger, own.id, [aCharge(unique("spend"), 1)]);
    const ids: string[] = [];
    for (let cursor = ""; ;) {
      const { body } = await usage(own.id, `?limit=2${cursor}`);
      ids.push(...body.data.map(({ id }: { readonly id: string }) => id));
      if (body.page.nextCursor === null) break;
      cursor = `&cursor=${body.page.nextCursor}`;
      expect(outcomeOf(await usage(other.id, `?limit=2${cursor}`))).toBe("400 invalid_cursor");
    }
    expect(new Set(ids).size).toBe(6);
    for (const id of [newId("platform", relay.clock.now()), "plt_x", "platforms"])
      expect(outcomeOf(await usage(id)), id).toBe("404 not_found");
    expect(outcomeOf(await usage(own.id, "", []))).toBe("403 role_required");
    expect(outcomeOf(await usage(own.id, "", ["Admin"]))).toBe("200");
  });
});

/** The product, or the product with one of its safeguards taken away. */
type Change = (process: Relay) => void;

/** A process dies at each write of making a platform; what is wrong with the names then, and a day later. */
async function crashes(change: Change, moment: Death["moment"]): Promise<string[]> {
  const wrong: string[] = [];
  let end = "died";
  // A first write to a table that isn't there is made twice.
  await aPlatform(relay);
  for (let nth = 1; end === "died" && nth < WRITES_MAX; nth += 1) {
    const name = `Doomed ${nth} ${moment}`;
    const body = { email: `${nth}-${moment}@example.com`, password: PASSWORD, platformName: name };
    end = await dyingAt(relay, { nth, moment }, (process) => {
      change(process);
      return process.call("POST", "/v1/auth/signup", { body });
    });
    const { items } = await relay.services.tenants.stores.platforms.list(undefined, 1_000);
    const made = items.filter((platform) => platform.name === name).map(({ id }) => id);
    const listed = await found(name);
    if (listed.join() !== made.join()) wrong.push(`${nth}: ${listed.join()} for ${made.join()}`);
  }
  relay.advance(2 * DAY_MS);
  await findForgottenWork(relay.services);
  const { items } = await relay.services.tenants.stores.platforms.list(undefined, 1_000);
  const rows = await storedRows(relay);
  for (const partition of ["platforms", "platform-names"]) {
    const ids = rows
      .filter(({ partitionKey }) => partitionKey === partition)
      .map(({ rowKey }) => rowKey.slice(-30));
    const wanted = items.map(({ id }) => id);
    if (ids.toSorted().join() !== wanted.toSorted().join())
      wrong.push(`${partition} has ${ids.length}, and there are ${wanted.length}`);
  }
  return end === "lived" ? wrong : [...wrong, "it did not come to an end"];
}

describe("a process that dies at any write of making a platform", () => {
  test.each(["before", "after"] as const)(
    "%s it leaves no platform that can't be found, and no name of none",
    async (moment) => {
      expect(await crashes(() => undefined, moment)).toEqual([]);
    },
  );

  test("is noticed if it writes the name after the platform", async () => {
    const named = (process: Relay) => {
      const late: (() => Promise<void>)[] = [];
      replaceIn(process.tables.core, (core) => ({
        async put(partitionKey, row) {
          if (partitionKey !== "platform-names") return await core.put(partitionKey, row);
          late.push(() => core.put(partitionKey, row));
        },
        async transact(...given) {
          const result = await core.transact(...given);
          const isPlatform = given[1].some(
            (write) => write.kind === "create" && write.row.rowKey === "P",
          );
          if (isPlatform) for (const write of late.splice(0)) await write();
          return result;
        },
      }));
    };
    expect(await crashes(named, "after")).not.toEqual([]);
  });

  test("is noticed if it writes the name before the row that leads to it", async () => {
    const listed = (process: Relay) => {
      const late: (() => Promise<void>)[] = [];
      replaceIn(process.tables.core, (core) => ({
        async put(partitionKey, row) {
          if (partitionKey === "platforms") late.push(() => core.put(partitionKey, row));
          else await core.put(partitionKey, row);
          if (partitionKey === "platform-names") for (const write of late.splice(0)) await write();
        },
      }));
    };
    expect(await crashes(listed, "after")).not.toEqual([]);
  });
});
