import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleId, newId } from "../../src/shared/runtime/ids.ts";
import { aProfile, anApplication, dataOf } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

let relay: Relay;
let asked: string[] = [];
let genuine: URL;
let other: URL;

const SETTINGS = { SESSION_SECRET: "s".repeat(40), AUTH_RATE_PER_MINUTE: "5" };
beforeAll(async () => {
  relay = await startRelay({
    settings: SETTINGS,
    tableFault({ table, method }) {
      asked.push(`${method} ${table}`);
      return "pass";
    },
  });
  const application = await anApplication(relay);
  const profile = await aProfile(relay, application);
  const start = async () => {
    const path = `/v1/profiles/${profile.id}/connect/sessions`;
    const call = { key: application.key, body: { platforms: ["bluesky"] } };
    return new URL(dataOf(await relay.call("POST", path, call)).connectUrl);
  };
  [genuine, other] = [await start(), await start()];
});
afterAll(() => relay.stop());

/** Answers of the service, and what it asked storage for meanwhile. */
async function ask(method: string, path: string, call: object = {}) {
  asked = [];
  const { status } = await relay.call(method, path, call);
  return { status, asked: asked.filter((one) => !one.endsWith("ratewindows")) };
}

const page = ({ searchParams }: URL) => `/v1/connect/ui?${searchParams.toString()}`;
const session = () => genuine.searchParams.get("session") ?? "";
const token = () => genuine.searchParams.get("token") ?? "";

describe("an address that is made up asks storage for nothing", () => {
  test.each([
    ["an id and a token", () => [newId("connectSession", new Date()), "a".repeat(43)]],
    ["a token for a session that exists", () => [session(), "a".repeat(43)]],
    ["the token of another session", () => [session(), other.searchParams.get("token") ?? ""]],
    ["the token with a session that does not exist", () => [exampleId("connectSession"), token()]],
    ["the token with a letter changed", () => [session(), `${token().slice(1)}A`]],
    ["no token", () => [session(), ""]],
    ["no id", () => ["", token()]],
    ["an id of another form", () => [`${session()}'`, token()]],
  ])("an address that is made up asks storage for nothing: %s", async (_name, made) => {
    const [id = "", secret = ""] = made();
    const query = new URLSearchParams({ session: id, token: secret }).toString();
    const form = { headers: FORM, body: query };
    const nothing = { status: 404, asked: [] };
    expect(await ask("GET", `/v1/connect/ui?${query}`)).toEqual(nothing);
    expect(await ask("POST", "/v1/connect/ui/bluesky", form)).toEqual(nothing);
    expect(await ask("POST", "/v1/connect/ui/done", form)).toEqual(nothing);
  });

  test.each([
    ["no cookie", {}],
    ["a cookie of the right form", { cookie: `cx=${"a".repeat(43)}` }],
    ["the token of a session as the cookie", () => ({ cookie: `cx=${token()}` })],
  ])("a state, from a browser with %s", async (_name, headers) => {
    const call = { headers: typeof headers === "function" ? headers() : headers };
    for (const way of ["linkedin", "mastodon/social.example"])
      expect(await ask("GET", `/v1/connect/callback/${way}?state=made-up&code=1`, call)).toEqual({
        status: 403,
        asked: [],
      });
  });

  test("a deletion's code, after the limit of its address", async () => {
    const at = (code: number) => `/v1/connect/meta/deletion/${String(code).padStart(40, "0")}`;
    const headers = { "x-forwarded-for": "203.0.113.77" };
    for (let code = 0; code < 300; code += 1)
      expect((await ask("GET", at(code), { headers })).status).toBe(404);
    expect(await ask("GET", at(300), { headers })).toEqual({ status: 429, asked: [] });
  });
});

describe("the address of a session", () => {
  test("opens its page", async () => {
    expect((await ask("GET", page(genuine))).status).toBe(200);
  });

  test("opens it after the secret was replaced, and not once the one before is gone", async () => {
    const settings = { ...SETTINGS, SESSION_SECRET: "n".repeat(40) };
    const replaced = await startRelay({
      sameDeploymentAs: relay,
      settings: { ...settings, SESSION_SECRET_PREVIOUS: SETTINGS.SESSION_SECRET },
    });
    const later = await startRelay({ sameDeploymentAs: relay, settings });
    expect((await replaced.call("GET", page(genuine))).status).toBe(200);
    expect((await later.call("GET", page(genuine))).status).toBe(404);
    await later.stop();
    await replaced.stop();
  });
});
