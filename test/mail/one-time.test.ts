import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { LINK_KINDS, LINK_PAGES } from "../../src/shared/people/links/schema.ts";
import type { FatedCall } from "../model/machine.ts";
import { outcomeOf, PASSWORD } from "../setup/factories.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { LINKS } from "./link-kinds.ts";
import {
  NEW_PASSWORD,
  acceptWith,
  lastToken,
  logIn,
  newEmail,
  post,
  signUpAs,
  verified,
} from "./people.ts";
import { useTwoMailedProcesses } from "../setup/use-relay.ts";

const { mailed, second } = useTwoMailedProcesses();

test("every kind of link has its case here", () => {
  expect(Object.keys(LINKS).toSorted()).toEqual([...LINK_KINDS].toSorted());
});

/** Without the counts of requests. */
async function rowsOf(relay: Relay): Promise<readonly string[]> {
  const rows = await storedRows(relay);
  return rows
    .filter(({ table }) => table !== "ratewindows")
    .map(({ table, text }) => `${table} ${text}`);
}

const pageOf = (method: string, page: string, query: string) =>
  mailed.relay.call(method, `/v1/auth/ui/${page}?${query}`, {
    headers: { "x-forwarded-for": "198.51.100.7" },
  });

describe.each(Object.entries(LINKS))("a link of the kind %s", (_kind, make) => {
  test("a link is followed by scanners as often as they like, and then works for its reader", async () => {
    const link = await make(mailed);
    await mailed.relay.drain();
    const before = await rowsOf(mailed.relay);
    const { token, page } = link;
    const queries = [`token=${token}`, `token=${token}&utm_source=mail`, `x=1&token=${token}`];
    const visits = queries.flatMap((query) => [
      pageOf("GET", page, query),
      pageOf("HEAD", page, query),
    ]);
    for (const { status } of await Promise.all(visits)) expect(status).toBe(200);
    // Nobody answers these on a page.
    for (const method of ["OPTIONS", "PUT", "DELETE"])
      expect((await pageOf(method, page, `token=${token}`)).status).toBeGreaterThanOrEqual(404);
    expect(await rowsOf(mailed.relay)).toEqual(before);
    expect(await link.isUsed()).toBe(false);
    expect((await link.use(second)).status).toBe(link.wins);
    expect(await link.isUsed()).toBe(true);
  });

  test("of six uses of a link at the same time on two processes, one wins", async () => {
    const link = await make(mailed);
    const uses = Array.from({ length: 6 }, (_, nth) =>
      link.use(nth % 2 === 0 ? mailed.relay : second, nth),
    );
    const statuses = (await Promise.all(uses)).map(({ status }) => status);
    const { wins, loses } = link;
    expect(statuses.toSorted((one, other) => one - other)).toEqual(
      [wins, ...Array<number>(5).fill(loses)].toSorted((one, other) => one - other),
    );
    expect(await link.isUsed()).toBe(true);
  });

  test("a link is none of another kind, on any page and any route", async () => {
    const link = await make(mailed);
    const { token } = link;
    for (const page of LINK_PAGES.filter((one) => one !== link.page))
      expect((await pageOf("GET", page, `token=${token}`)).status).toBe(400);
    const isReset = link.page === "reset";
    const other = isReset
      ? await post(second, "/v1/auth/verify", { token, password: PASSWORD })
      : await post(second, "/v1/auth/reset/confirm", { token, newPassword: NEW_PASSWORD });
    expect(outcomeOf(other)).toBe("400 invalid_link");
    const wrong = link.page === "invitation" ? [] : [token];
    for (const made of [...wrong, "", "A".repeat(43), `${token}x`])
      expect(outcomeOf(await acceptWith(second, made))).toBe("400 invalid_link");
    expect(await link.isUsed()).toBe(false);
  });
});

describe("two people and one address", () => {
  /** Asks for the address, and returns how its link is followed. */
  async function asking(to: string) {
    const { session } = await verified(mailed);
    await post(mailed.relay, "/v1/auth/email", { newEmail: to, password: PASSWORD }, session);
    const token = await lastToken(mailed, to);
    return (on: Relay) => post(on, "/v1/auth/verify", { token, password: PASSWORD });
  }

  test("of two people who follow their links to one address at the same time, one has it", async () => {
    const to = newEmail();
    const [one, other] = [await asking(to), await asking(to)];
    const statuses = (await Promise.all([one(mailed.relay), other(second)])).map(outcomeOf);
    expect(statuses.toSorted()).toEqual(["204", "409 conflict"]);
  });

  test("of two people who sign up with one address at the same time, one has it, and no second account is left", async () => {
    const email = newEmail();
    const passwords = [PASSWORD, NEW_PASSWORD];
    const answers = await Promise.all(
      passwords.map((password, index) =>
        signUpAs(index === 0 ? mailed.relay : second, email, password),
      ),
    );
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    const tries = [];
    for (const password of passwords) tries.push(await logIn(second, email, password));
    expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    const users = (await storedRows(mailed.relay)).filter(({ text }) => text.includes(email));
    expect(users.filter(({ rowKey }) => rowKey.startsWith("U|"))).toHaveLength(1);
  });

  test("of two people of whom one verifies an address while the other signs up with it, one has it, and not both", async () => {
    const ends = new Set<string>();
    for (let round = 0; round < 12; round += 1) {
      const email = newEmail();
      await signUpAs(mailed.relay, email);
      const token = await lastToken(mailed, email);
      const wait = async (turns: number) => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      };
      const [verification, signUp] = await Promise.all([
        wait(round * 12).then(() =>
          post(mailed.relay, "/v1/auth/verify", { token, password: PASSWORD }),
        ),
        signUpAs(second, email, NEW_PASSWORD),
      ]);
      const end = [verification, signUp].map(outcomeOf).join();
      const old = await logIn(mailed.relay, email);
      const isOld = end === "204,409 conflict";
      expect(old.status, end).toBe(isOld ? 200 : 401);
      expect((await logIn(mailed.relay, email, NEW_PASSWORD)).status, end).toBe(isOld ? 401 : 200);
      ends.add(end);
    }
    for (const end of ends)
      expect(["204,409 conflict", "400 invalid_link,201", "401 invalid_credentials,201"]).toContain(
        end,
      );
  });
});

describe("somebody who guesses links", () => {
  const PER_MINUTE = 30;
  const ADDRESSES = 50;
  // A thousand for every change, and ten thousand in the long check.
  const GUESSES = IS_LONG ? 10_000 : 1_000;
  /** Two kinds of links on a route, with the present and the previous pepper. */
  const LOOKS_MAX = 4;

  const WAYS: readonly ((
    on: Relay,
    token: string,
    address: string,
  ) => ReturnType<Relay["call"]>)[] = [
    ...LINK_PAGES.map(
      (page) => (on: Relay, token: string, address: string) =>
        on.call("GET", `/v1/auth/ui/${page}?token=${token}`, {
          headers: { "x-forwarded-for": address },
        }),
    ),
    ...LINK_PAGES.map(
      (page) => (on: Relay, token: string, address: string) =>
        on.call("POST", `/v1/auth/ui/${page}`, {
          rawBody: new URLSearchParams({ token, password: NEW_PASSWORD }).toString(),
          headers: {
            "content-type": "application/x-www-form-urlencoded",
            "x-forwarded-for": address,
          },
        }),
    ),
    (on, token, address) => post(on, "/v1/auth/verify", { token, password: PASSWORD }, { address }),
    (on, token, address) =>
      post(on, "/v1/auth/reset/confirm", { token, newPassword: NEW_PASSWORD }, { address }),
  ];

  test("gets thirty tries a minute for each address, a few look-ups for each, and no link", async () => {
    const calls: FatedCall[] = [];
    const counted = await startRelay({
      sameDeploymentAs: mailed.relay,
      settings: { AUTH_RATE_PER_MINUTE: String(PER_MINUTE) },
      tableFault(call) {
        if (call.table !== "ratewindows") calls.push(call);
        return "pass";
      },
    });
    const link = await LINKS.reset?.(mailed);
    const startedAt = counted.clock.now().getTime();
    const statuses = new Map<number, number>();
    for (let guess = 0; guess < GUESSES; guess += 1) {
      const way = WAYS[guess % WAYS.length];
      const token = randomBytes(32).toString("base64url");
      const address = `198.51.100.${Math.floor(guess / WAYS.length) % ADDRESSES}`;
      const status = (await way?.(counted, token, address))?.status ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    const minutes = Math.ceil((counted.clock.now().getTime() - startedAt) / 60_000) + 1;
    const tried = statuses.get(400) ?? 0;
    expect(tried + (statuses.get(429) ?? 0)).toBe(GUESSES);
    expect(tried).toBeLessThanOrEqual(PER_MINUTE * ADDRESSES * minutes);
    expect(calls.every(({ table, method }) => table === "links" && method === "GET")).toBe(true);
    expect(calls.length).toBeLessThanOrEqual(LOOKS_MAX * tried);
    // What they tried has ended no link.
    expect((await link?.use(second))?.status).toBe(200);
    await counted.stop();
  });

  test("somebody who guesses links from one address is told to wait, on the forms of pages too", async () => {
    // A page that is only opened uses nothing up, and has a limit of its own.
    const uses = WAYS.slice(LINK_PAGES.length);
    const counted = await startRelay({
      sameDeploymentAs: mailed.relay,
      settings: { AUTH_RATE_PER_MINUTE: String(PER_MINUTE) },
    });
    counted.advance(60_000 - (counted.clock.now().getTime() % 60_000));
    const statuses: number[] = [];
    for (let guess = 0; guess < 3 * PER_MINUTE; guess += 1) {
      const way = uses[guess % uses.length];
      statuses.push((await way?.(counted, "A".repeat(43), "203.0.113.9"))?.status ?? 0);
    }
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
    expect(statuses.filter((status) => status === 400)).toHaveLength(PER_MINUTE);
    await counted.stop();
  });
});
