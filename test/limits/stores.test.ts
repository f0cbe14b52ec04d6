import { describe, expect, test } from "vitest";
import { LoginHistoryStore, NO_FAILURES } from "../../src/shared/limits/login-history-store.ts";
import { RateWindowStore } from "../../src/shared/limits/rate-window-store.ts";
import { SharedWindow } from "../../src/shared/limits/shared-window.ts";
import { WINDOW_MS } from "../../src/shared/limits/sliding-window.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { purgeExpired } from "../setup/walks.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

const NOW = Date.parse("2026-03-04T10:00:30.000Z");
const MINUTE = Math.floor(NOW / WINDOW_MS);
const DAY_MINUTES = 24 * 60;

let count = 0;
const unique = (word: string) => `${word}-${(count += 1)}`;
const total = (counts: ReadonlyMap<string, number>) =>
  [...counts.values()].reduce((sum, value) => sum + value, 0);

const storesOf = ({ tables }: Relay) => ({
  windows: new RateWindowStore(tables.ratewindows),
  logins: new LoginHistoryStore(tables.ratewindows),
});

const countRows = (of: Relay) =>
  storedRows(of).then((rows) =>
    rows.filter(({ table }) => table === "ratewindows").map(({ text }) => text),
  );

describe("counts by subject and minute", () => {
  test("of counts that any number of processes write at once, none is lost", async () => {
    const { windows } = storesOf(relay);
    const subject = unique("key");
    const columns = Array.from({ length: 60 }, (_, index) => `column${index}`);
    await Promise.all(columns.map((column) => windows.publish(subject, MINUTE, column, 5)));
    expect(total(await windows.read(subject, MINUTE))).toBe(300);
  });

  test("a process replaces its own count alone", async () => {
    const { windows } = storesOf(relay);
    const subject = unique("key");
    await windows.publish(subject, MINUTE, "mine", 3);
    await windows.publish(subject, MINUTE, "other", 4);
    await windows.publish(subject, MINUTE, "mine", 7);
    expect(Object.fromEntries(await windows.read(subject, MINUTE))).toEqual({ mine: 7, other: 4 });
  });

  test("subjects and minutes are kept apart", async () => {
    const { windows } = storesOf(relay);
    const [one, two] = [unique("key"), unique("key")];
    await windows.publish(one, MINUTE, "mine", 1);
    expect(total(await windows.read(two, MINUTE))).toBe(0);
    expect(total(await windows.read(one, MINUTE - 1))).toBe(0);
  });

  test("instances see each other's counts through it", async () => {
    const { windows: rows } = storesOf(relay);
    const subject = unique("key");
    const options = { subject, rows, now: () => NOW, onFailure: () => undefined };
    const instances = [1, 2, 3].map(() => new SharedWindow(options));
    let granted = 0;
    for (let index = 0; index < 400; index += 1)
      if ((await instances[index % 3]?.admit(300))?.allowed === true) granted += 1;
    expect(granted).toBeGreaterThanOrEqual(300);
    expect(granted).toBeLessThanOrEqual(330);
  });
});

const of = (email: string) => ({ kind: "email", email }) as const;
const failureAt = (at: number) => ({ kind: "password", group: "a1", at, resets: 0 }) as const;

describe("failed logins", () => {
  const fail = (email: string, on: Relay = relay) =>
    storesOf(on).logins.change(of(email), (history) => [...history, failureAt(NOW)]);

  test("an email without any has an empty history", async () => {
    expect(await storesOf(relay).logins.find(of(unique("nobody")))).toEqual(NO_FAILURES);
  });

  test("failed logins are found again by the email in any case, with the space around it", async () => {
    const { logins } = storesOf(relay);
    const email = `${unique("somebody")}@example.com`;
    const kinds = ["password", "code", "own_code"] as const;
    const history = kinds.map((kind, index) => {
      return { kind, group: `b${index}`, at: NOW + index, resets: index };
    });
    await logins.change(of(email), () => history);
    expect(await logins.find(of(` ${email.toUpperCase()} `))).toEqual(history);
    expect(await logins.find({ kind: "device", id: email })).toEqual(NO_FAILURES);
  });

  test("of failed logins that are counted at once, none is lost", async () => {
    const email = unique("crowd");
    await Promise.all(Array.from({ length: 8 }, () => fail(email)));
    expect(await storesOf(relay).logins.find(of(email))).toHaveLength(8);
  });

  test("failed logins can be read without a change, and be forgotten", async () => {
    const { logins } = storesOf(relay);
    const email = unique("forgiven");
    await fail(email);
    await logins.change(of(email), () => undefined);
    expect(await logins.find(of(email))).toHaveLength(1);
    await logins.change(of(email), () => []);
    await logins.change(of(email), () => []);
    expect(await logins.find(of(email))).toEqual(NO_FAILURES);
  });

  test("show nobody's email in storage", async () => {
    const own = await startRelay();
    await fail("private@example.com", own);
    const rows = await countRows(own);
    expect(rows).toHaveLength(1);
    expect(rows.join()).not.toMatch(/private|example/);
    await own.stop();
  });
});

describe("the purge", () => {
  test("removes past days and forgotten logins, and nothing that still counts", async () => {
    const own = await startRelay();
    const { windows, logins } = storesOf(own);
    const minute = Math.floor(own.clock.now().getTime() / WINDOW_MS);
    const now = minute * WINDOW_MS;
    const publish = (subject: string, at: number) => windows.publish(subject, at, "c", 1);
    // More than one transaction's worth in one partition, and two weeks back.
    await Promise.all(
      Array.from({ length: 130 }, (_, index) => publish("busy", minute - 2 * DAY_MINUTES - index)),
    );
    await publish("old", minute - 13 * DAY_MINUTES);
    await publish("young", minute);
    await publish("young", minute - 1);
    const failed = (email: string, minutesAgo: number) =>
      logins.change(of(email), () => [failureAt(now - minutesAgo * WINDOW_MS)]);
    await failed("old@example.com", 61);
    await failed("young@example.com", 0);
    await failed("counted@example.com", 50);

    await purgeExpired(own.services);
    const ended = (kind: string) =>
      own.logLines.filter((line) => line.includes("walk ended") && line.includes(`purge-${kind}"`));
    expect(ended("windows")).toEqual([expect.stringContaining('"removed":131')]);
    expect(ended("logins")).toEqual([expect.stringContaining('"removed":1')]);
    expect(await countRows(own)).toHaveLength(4);
    expect(total(await windows.read("young", minute))).toBe(1);
    expect(await logins.find(of("counted@example.com"))).toHaveLength(1);

    await purgeExpired(own.services);
    expect(await countRows(own)).toHaveLength(4);
    await own.stop();
  });

  test("shortly after midnight keeps the minutes that still overlap", async () => {
    const own = await startRelay();
    const { windows } = storesOf(own);
    const midnight = Date.parse("2026-03-05T00:00:00.000Z");
    const before = midnight / WINDOW_MS - 1;
    await windows.publish("key", before, "c", 7);
    const purge = async (time: number) => {
      let after: string | undefined;
      do ({ next: after } = await windows.removeOld(new Date(time), after));
      while (after !== undefined);
    };
    await purge(midnight + 20_000);
    expect(total(await windows.read("key", before))).toBe(7);
    await purge(midnight + 25 * 3600 * 1000);
    expect(total(await windows.read("key", before))).toBe(0);
    await own.stop();
  });
});
