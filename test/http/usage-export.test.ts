import { beforeAll, describe, expect, test, vi } from "vitest";
import { chargeTogether } from "../../src/shared/ledger/ledger.ts";
import { entryKey, ledgerRow, WALLET_KEY, walletRow } from "../../src/shared/ledger/wallet-row.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { aCharge } from "../setup/a-charge.ts";
import {
  aKey,
  anApplication,
  aPlatform,
  aProfile,
  dataOf,
  type TestApplication,
} from "../setup/factories.ts";
import { unique } from "../setup/publisher.ts";
import { useRelay } from "../setup/use-relay.ts";

const DAY_MS = 24 * 60 * 60_000;
const relay = useRelay();
let application: TestApplication;
beforeAll(async () => {
  application = await anApplication(relay);
});

const timeAt = (ms: number) => new Date(ms).toISOString();
const inDays = (days: number) => timeAt(relay.clock.now().getTime() + days * DAY_MS);
const around = () => `from=${inDays(-1)}&to=${inDays(1)}`;
const exported = (query: string, caller: object = { key: application.key }) =>
  relay.call("GET", `/v1/billing/usage/export?${query}`, caller);
const issuesOf = (answer: { readonly body: { readonly error: { details: object } } }) =>
  (answer.body.error.details as { issues: { path: string; code: string }[] }).issues;

/** Parses CSV as RFC 4180 says, with a parser of its own. */
function parsed(text: string): Record<string, string>[] {
  const lines: string[][] = [];
  let cells: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (const [, quoted, plain, end] of text.matchAll(pattern)) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end !== "\r\n") continue;
    lines.push(cells);
    cells = [];
  }
  const [names = [], ...rows] = lines;
  for (const row of rows) expect(row).toHaveLength(names.length);
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])));
}

/** Writes entries as the ledger has them, a number of milliseconds apart, and the wallet that counts them. */
async function writeEntries(
  platformId: string,
  { first, last, start, stepMs }: { first: number; last: number; start: number; stepMs: number },
): Promise<void> {
  const rows = [];
  for (let sequence = first; sequence <= last; sequence += 1) {
    const createdAt = new Date(start + sequence * stepMs);
    const columns = ledgerRow.encode({
      id: newId("ledgerEntry", createdAt),
      type: "debit",
      operation: "posts.validate",
      tokens: -1,
      sequence,
      balanceAfter: 1,
      reservedAfter: 0,
      postId: null,
      network: null,
      applicationId: application.id,
      profileId: null,
      actorKind: "api_key",
      actorId: "key",
      requestId: "req_1",
      note: null,
      createdAt: createdAt.toISOString(),
      legs: null,
    });
    rows.push({ ...columns, rowKey: entryKey(sequence) });
  }
  await relay.tables.core.putAll(platformId, rows);
  const stored = await relay.tables.core.find(platformId, WALLET_KEY);
  if (stored === undefined) throw new Error("no wallet");
  const wallet = { ...walletRow.decode(stored.row), sequence: last };
  await relay.tables.core.putAll(platformId, [{ ...walletRow.encode(wallet), rowKey: WALLET_KEY }]);
}

describe("the ledger as CSV", () => {
  test("the file has the entries of the list, with their fields as columns", async () => {
    const own = await anApplication(relay);
    const { key, platform } = own;
    for (const tokens of [1, 2, 3]) {
      const of = { applicationId: own.id, requestId: '-=evil,"x"' };
      await chargeTogether(relay.services.ledger, platform.id, [
        aCharge(unique("spend"), tokens, of),
      ]);
      relay.advance(1_000);
    }
    const answer = await exported(around(), { key });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toMatch(
      /^attachment; filename="usage-[\d-]{10}-to-[\d-]{10}\.csv"$/,
    );
    const text = String(answer.body);
    expect(text.endsWith("\r\n")).toBe(true);
    const listed = dataOf(await relay.call("GET", "/v1/billing/usage?limit=100", { key }));
    expect(listed.length).toBeGreaterThanOrEqual(3);
    const wanted = listed.map(
      ({ actor, ...entry }: { actor: { kind: string; id: string }; requestId: string }) => {
        const { kind: actorKind, id: actorId } = actor;
        const cells = Object.entries({ ...entry, actorKind, actorId }).map(([name, value]) => [
          name,
          // A spreadsheet would run it.
          [value].join("").replace(/^-=/, "'-="),
        ]);
        return Object.fromEntries(cells);
      },
    );
    // Numbers are numbers, also below zero.
    expect(wanted[0].tokens).toBe("-3");
    expect(parsed(text)).toEqual(wanted);
  });

  test("no note leaves its cell or becomes a formula", async () => {
    const platform = await aPlatform(relay, { tokens: 0 });
    const notes = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", 'a "b", c', "two\r\nlines", "it's", "ü"];
    for (const note of notes) {
      const body = { platformId: platform.id, tokens: 1, note };
      await relay.call("POST", "/v1/billing/admin/credit", { operator: ["Admin"], body });
    }
    const answer = await exported(around(), { session: platform.session });
    const cells = parsed(String(answer.body)).map(({ note }) => note);
    const wanted = notes.map((note) => (/^[=+\-@\t\r]/.test(note) ? `'${note}` : note));
    expect(cells.toReversed()).toEqual(wanted);
  });

  test("the range includes its beginning and excludes its end, and filters narrow it", async () => {
    const platform = await aPlatform(relay);
    const start = Date.parse("2026-01-01T00:00:00.000Z");
    await writeEntries(platform.id, { first: 1, last: 40, start, stepMs: 1_000 });
    const { session } = platform;
    const rows = async (query: string) => parsed(String((await exported(query, { session })).body));
    const range = `from=${timeAt(start + 10_000)}&to=${timeAt(start + 20_000)}`;
    const inside = await rows(range);
    expect(inside.map(({ createdAt }) => createdAt)).toEqual(
      Array.from({ length: 10 }, (_, at) => timeAt(start + 19_000 - at * 1_000)),
    );
    expect(await rows(`${range}&operation=posts.validate`)).toHaveLength(10);
    expect(await rows(`${range}&profileId=prf_nobody`)).toEqual([]);
    expect(await rows(`from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z`)).toEqual([]);
  });

  test("a key exports its own application's entries alone, and a restricted one those of its profiles", async () => {
    const own = await anApplication(relay);
    const other = await anApplication(relay, own.platform);
    const [mine, theirs] = [await aProfile(relay, own), await aProfile(relay, own)];
    const { secret } = await aKey(relay, own, {
      scope: "restricted",
      allowedProfileIds: [mine.id],
    });
    for (const { applicationId, profileId } of [
      { applicationId: own.id, profileId: mine.id },
      { applicationId: own.id, profileId: theirs.id },
      { applicationId: other.id, profileId: null },
    ]) {
      const of = { applicationId, profileId };
      await chargeTogether(relay.services.ledger, own.platform.id, [
        aCharge(unique("spend"), 1, of),
      ]);
    }
    const seen = async (caller: object) => {
      const rows = parsed(String((await exported(around(), caller)).body));
      return [rows, new Set(rows.map(({ applicationId }) => applicationId))] as const;
    };
    expect((await seen({ key: own.key }))[1]).toEqual(new Set([own.id]));
    const [restricted] = await seen({ key: secret });
    expect(new Set(restricted.map(({ profileId }) => profileId))).toEqual(new Set([mine.id]));
    const refused = await exported(`${around()}&applicationId=${other.id}`, { key: own.key });
    expect([refused.status, refused.body.error.code]).toEqual([403, "application_mismatch"]);
    expect((await seen({ session: own.platform.session }))[1].has(other.id)).toBe(true);
  });

  test("a range that is missing, reversed or longer than 31 days is refused", async () => {
    const from = "2026-01-01T00:00:00Z";
    expect(issuesOf(await exported(""))).toMatchObject([{ path: "from" }, { path: "to" }]);
    expect(issuesOf(await exported(`from=${from}`))).toMatchObject([{ path: "to" }]);
    expect(issuesOf(await exported(`from=${from}&to=${from}`))).toMatchObject([{ path: "to" }]);
    expect((await exported(`from=${from}&to=2026-02-01T00:00:00Z`)).status).toBe(200);
    expect(issuesOf(await exported(`from=${from}&to=2026-02-01T00:00:01Z`))).toMatchObject([
      { path: "from", code: "range_too_large" },
    ]);
  });

  test("50,000 entries of a long ledger take at most 90 requests, and one more is refused", async () => {
    const platform = await aPlatform(relay);
    const { session } = platform;
    const start = Date.parse("2026-01-01T00:00:00.000Z");
    let written = 0;
    const counts = [];
    const pages = [];
    for (const size of [10, 1_000, 60_000]) {
      await writeEntries(platform.id, { first: written + 1, last: size, start, stepMs: 1_000 });
      written = size;
      const reads = (["find", "list"] as const).map((name) => vi.spyOn(relay.tables.core, name));
      const count = Math.min(size, 50_000);
      const range = (entries: number) =>
        `from=${timeAt(start + 1_000)}&to=${timeAt(start + (entries + 1) * 1_000)}`;
      const answer = await exported(range(count), { session });
      counts.push(reads.reduce((sum, { mock }) => sum + mock.calls.length, 0));
      expect(parsed(String(answer.body))).toHaveLength(count);
      for (const spy of reads) spy.mockClear();
      dataOf(await relay.call("GET", "/v1/billing/usage?limit=100", { session }));
      pages.push(reads.reduce((sum, { mock }) => sum + mock.calls.length, 0));
      for (const spy of reads) spy.mockRestore();
      if (count < 50_000) continue;
      expect(issuesOf(await exported(range(count + 1), { session }))).toMatchObject([
        { path: "from", code: "range_too_large" },
      ]);
      expect(issuesOf(await exported(range(90_000), { session }))).toMatchObject([
        { path: "from", code: "range_too_large" },
      ]);
    }
    const [few = 0, some = 0, many = 0] = counts;
    expect(few).toBeLessThanOrEqual(15);
    expect(some).toBeLessThanOrEqual(27);
    expect(many).toBeLessThanOrEqual(90);
    // A page of the list doesn't grow with the ledger.
    expect(pages).toEqual([3, 3, 3]);
  });
});
