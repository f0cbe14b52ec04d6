import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_APP_PASSWORD } from "../../sandbox/bluesky/state.ts";
import type { HttpRequest, HttpResponse } from "../../src/shared/runtime/http-call.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { Browser } from "../connections/browser.ts";
import { anOwner, type Owner, type World } from "../connections/world.ts";
import { enabledTotp } from "../setup/authenticator.ts";
import { dataOf, PASSWORD } from "../setup/factories.ts";
import { unique, uniqueKey } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { storedRows, type DumpedRow } from "../setup/stored-rows.ts";
import { DAY_MS, linkByAppPassword, openWholeWorld } from "./accounts.ts";
import { checkAccounts } from "../setup/walks.ts";

const SECRET_FIELD =
  /^(access_?token|refresh_?token|access_?jwt|refresh_?jwt|client_?secret|code|id_?token|upload_?token|device_?code)$/i;
const LENGTH_MIN = 12;

let world: World;
let owner: Owner;
/** What went over the wire or was shown once, by where it was seen. */
const secrets = new Map<string, string>();
let rows: readonly DumpedRow[] = [];

function keep(secret: unknown, where: string): void {
  if (typeof secret === "string" && secret.length >= LENGTH_MIN) secrets.set(secret, where);
}

function keepFields(value: unknown, where: string): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, field] of Object.entries(value)) {
    if (SECRET_FIELD.test(name)) keep(field, `${where} ${name}`);
    keepFields(field, where);
  }
}

function hear(request: HttpRequest, response: HttpResponse): void {
  const { host, pathname, searchParams } = new URL(request.url);
  const where = `${host}${pathname}`;
  for (const [name, value] of Object.entries(request.headers ?? {}))
    if (/^(authorization|dpop|cookie)$/i.test(name)) keep(value.replace(/^\w+ /, ""), where);
  const body = typeof request.body === "string" ? request.body : "";
  for (const [name, value] of [...searchParams, ...new URLSearchParams(body)])
    if (SECRET_FIELD.test(name)) keep(value, where);
  keepFields(response.json(), where);
}

/** A relay in use: accounts of all networks, posts, webhooks, users, a connect page that is open. */
async function useEverything(): Promise<void> {
  const { relay } = world;
  owner = await anOwner(world, 1_000);
  const { key, profileId } = owner;
  keep(key, "an API key");
  const networks: NetworkName[] = ["facebook", "instagram", "linkedin", "mastodon"];
  for (const network of networks) await linkSandboxAccount(world.services, owner, network);
  await linkByAppPassword(world.services, owner);
  keep(DEMO_APP_PASSWORD, "an app password");

  const { session } = owner.application.platform;
  keep(session, "a session");
  keep(PASSWORD, "a password");
  const app = await enabledTotp(relay, session);
  keep(app.secret, "a TOTP secret");
  for (const code of app.recoveryCodes) keep(code, "a recovery code");

  const body = { url: "https://hooks.example.com/hook" };
  const hook = dataOf(await relay.call("POST", "/v1/webhooks", { key, body }));
  keep(hook.secret, "a webhook secret");
  const path = `/v1/webhooks/${hook.id}/rotate-secret`;
  keep(dataOf(await relay.call("POST", path, { key })).secret, "a webhook secret");

  const grant = { profileId };
  keep(
    dataOf(await relay.call("POST", "/v1/profile-grants", { key, body: grant })).token,
    "a grant",
  );

  const sessions = `/v1/profiles/${profileId}/connect/sessions`;
  const visit = dataOf(
    await relay.call("POST", sessions, { key, body: { platforms: ["mastodon"] } }),
  );
  keep(new URL(visit.connectUrl).searchParams.get("token"), "a connect page");
  const browser = new Browser(world);
  const page = await browser.get(visit.connectUrl);
  const left = await browser.submit(page, "mastodon", { instance: "first.sandbox.test" });
  keep(browser.cookie?.split("=")[1], "the cookie of a connect page");
  keep(new URL(left.headers.get("location") ?? "").searchParams.get("state"), "an OAuth state");

  const media = ["https://media.sandbox.test/portrait.jpg"];
  const headers = { "x-profile-id": profileId, "idempotency-key": uniqueKey() };
  const post = { text: unique("At rest"), platforms: [...networks, "bluesky"], mediaUrls: media };
  dataOf(await relay.call("POST", "/v1/posts", { key, headers, body: post }));
  for (let round = 0; round < 5; round += 1) {
    await relay.drain();
    relay.advance(180_000);
  }
  relay.advance(31 * DAY_MS);
  await checkAccounts(world.services);
  await relay.drain();
}

beforeAll(async () => {
  world = await openWholeWorld();
  world.intercept(async (request, send) => {
    const response = await send(request);
    hear(request, response);
    return response;
  });
  await useEverything();
  rows = await storedRows(world.relay);
});
afterAll(() => world.close());

/** The forms in which a secret could lie in a row. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
  ];
}

describe("what lies in the tables of a relay in use", () => {
  test("what lies in the tables of a relay in use was there to be looked at, and so were the secrets", () => {
    const tables = new Set(rows.map(({ table }) => table));
    for (const table of ["core", "keys", "authorizations", "instances", "oauthstates"])
      expect(tables).toContain(table);
    expect(secrets.size).toBeGreaterThan(25);
    const seen = [...secrets.values()].join("\n");
    for (const host of ["graph.facebook.com", "graph.instagram.com", "linkedin.com", "mastodon"])
      expect(seen).toContain(host);
    // The search itself finds what is there.
    const profile = rows.filter(({ text }) => text.includes(owner.profileId));
    expect(profile.length).toBeGreaterThan(3);
  });

  test("holds no token, secret, password, cookie or key in clear, in whatever form", () => {
    const found = [...secrets].flatMap(([secret, where]) =>
      rows
        .filter(({ text }) => formsOf(secret).some((form) => text.includes(form)))
        .map(({ table, rowKey }) => `${where} in ${table} ${rowKey}`),
    );
    expect(found).toEqual([]);
  });

  test("what lies in the tables of a relay in use is in no line of the log either", () => {
    const lines = world.relay.logLines.join("\n");
    const found = [...secrets].filter(([secret]) => lines.includes(secret));
    expect(found.map(([, where]) => where)).toEqual([]);
  });
});
