import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chapters, routes } from "../../../src/functions/routes.ts";
import { openApi } from "../../../tools/reference/openapi.ts";
import type { OpenApiOperation, Parameter } from "../../../tools/reference/openapi-types.ts";
import type { Route } from "../../../src/shared/http/route.ts";
import { HttpFailure } from "../../../src/shared/runtime/http-call.ts";
import { aKey, anApplication, aPlatform, aProfile, dataOf } from "../../setup/factories.ts";
import { IS_LONG } from "../../setup/long-check.ts";
import { type CallOptions, type Relay } from "../../setup/relay.ts";
import {
  createShapes,
  hostileBodies,
  hostileTexts,
  nearly,
  placeholder,
} from "./request-shapes.ts";
import { foreignWords } from "./own-words.ts";
import { useRelay } from "../../setup/use-relay.ts";

/** The same requests on every run, unless the environment asks for others. */
const RUNS_PER_ROUTE = Number(process.env["FUZZ_RUNS"] ?? (IS_LONG ? 70 : 25));
const RUNS_LEAST = IS_LONG ? 5_000 : 2_500;
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_260_304);
const TEST_MS_MAX = 120_000 + RUNS_PER_ROUTE * 100;
/** Mark in the texts of a tenant, which no other may see. */
const MARK = "Seen-By-Its-Owner-Only";

const document = openApi(chapters, "https://relay.example.net/api", "Publishing Relay");
const shape = createShapes(document);

/** `null`: the owner's own object or value. */
type Choice = string | null;

interface FuzzedRequest {
  readonly caller: string;
  readonly path: Readonly<Record<string, Choice>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: string | Uint8Array;
}

function operationOf(route: Route): OpenApiOperation {
  const found = document.paths[`/${route.path}`]?.[route.method.toLowerCase()];
  if (found === undefined) throw new Error(`the document has no ${route.method} ${route.path}`);
  return found;
}

function parametersOf(operation: OpenApiOperation): readonly Parameter[] {
  return (operation.parameters ?? []).map((parameter) => {
    if (!("$ref" in parameter)) return parameter;
    const found = document.components.parameters[parameter.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`the document has no ${parameter.$ref}`);
    return found;
  });
}

const OWN_CALLERS: Readonly<Record<string, readonly string[]>> = {
  apiKey: ["key", "restricted"],
  session: ["session", "session of the application"],
  operator: ["operator"],
};
const STRANGERS = [
  "nobody",
  "garbage",
  "foreign key",
  "foreign session",
  "operator without a role",
];

function callers(operation: OpenApiOperation): fc.Arbitrary<string> {
  const schemes = operation.security.flatMap((security) => Object.keys(security));
  const own = schemes.flatMap((scheme) => OWN_CALLERS[scheme] ?? []);
  const strangers = fc.constantFrom(...STRANGERS, ...Object.values(OWN_CALLERS).flat());
  return own.length === 0
    ? strangers
    : fc.oneof({ arbitrary: fc.constantFrom(...own), weight: 6 }, strangers);
}

function paths(parameters: readonly Parameter[]): fc.Arbitrary<Record<string, Choice>> {
  const choice = fc.oneof(
    { arbitrary: fc.constant(null), weight: 6 },
    { arbitrary: hostileTexts.map((text) => text.slice(0, 200)), weight: 1 },
  );
  const named = parameters.filter((parameter) => parameter.in === "path");
  return fc.record(Object.fromEntries(named.map(({ name }) => [name, choice])));
}

function queries(parameters: readonly Parameter[]): fc.Arbitrary<[string, string][]> {
  const named = parameters.filter((parameter) => parameter.in === "query");
  const asked = named.map(({ name, schema }) => {
    const value = fc.oneof(
      { arbitrary: shape(schema).map(String), weight: 4 },
      { arbitrary: hostileTexts.map((text) => text.slice(0, 2_000)), weight: 1 },
    );
    return value.map((text): [string, string] => [name, text]);
  });
  const unknown = fc.constant<[string, string]>(["__proto__", "x"]);
  // Without it, half of the requests to a route that has no parameters would be refused for one.
  if (named.length === 0) return fc.array(unknown, { maxLength: 1, size: "xsmall" });
  const asks = fc.oneof({ arbitrary: unknown, weight: 1 }, ...asked);
  const once = fc.uniqueArray(asks, { maxLength: 3, selector: ([name]) => name });
  return fc.oneof({ arbitrary: once, weight: 9 }, fc.array(asks, { maxLength: 3 }));
}

/** What a header can hold at all. */
const headerText = fc.oneof(
  fc.stringMatching(/^[\x21-\x2b\x2d-\x7e]{1,80}$/),
  fc.constantFrom("0", "é".repeat(20), "x".repeat(8_000), "{{profileId}}, {{profileId}}"),
);

function headers(parameters: readonly Parameter[]): fc.Arbitrary<Record<string, string>> {
  const named = parameters.filter((parameter) => parameter.in === "header");
  const fields = named.map(({ name }) => {
    const good = name === "X-Profile-Id" ? placeholder("profileId") : "a-fuzzed-key";
    const usual = { arbitrary: fc.constant(good), weight: name === "X-Profile-Id" ? 8 : 3 };
    return [name, fc.oneof(usual, headerText)] as const;
  });
  const types = fc.oneof(
    { arbitrary: fc.constant("application/json"), weight: 12 },
    fc.constantFrom("text/plain", "application/x-www-form-urlencoded", "application/json;x", "é"),
  );
  const all: Record<string, fc.Arbitrary<string>> = {
    ...Object.fromEntries(fields),
    "content-type": types,
    "x-request-id": headerText,
  };
  return fc.record(all, { requiredKeys: ["content-type", "X-Profile-Id"].filter((n) => n in all) });
}

const textsOf = (value: object): Record<string, string> =>
  Object.fromEntries(Object.entries(value).map(([name, item]) => [name, String(item)]));

function bodies(operation: OpenApiOperation): fc.Arbitrary<string | Uint8Array> {
  const content = Object.entries(operation.requestBody?.content ?? {})[0];
  if (content === undefined) return fc.oneof(fc.constant(""), hostileBodies);
  const valid = shape(content[1].schema);
  const written = (value: unknown) =>
    content[0].includes("form")
      ? new URLSearchParams(textsOf(value ?? {})).toString()
      : JSON.stringify(value);
  return fc.oneof(
    { arbitrary: valid.map(written), weight: 4 },
    { arbitrary: nearly(valid).map(written), weight: 4 },
    { arbitrary: hostileBodies, weight: 2 },
  );
}

function requestsOf(route: Route): fc.Arbitrary<FuzzedRequest> {
  const operation = operationOf(route);
  const parameters = parametersOf(operation);
  return fc.record({
    caller: callers(operation),
    path: paths(parameters),
    query: queries(parameters),
    headers: headers(parameters),
    rawBody: bodies(operation),
  });
}

interface World {
  readonly callers: Readonly<Record<string, CallOptions>>;
  readonly ids: Readonly<Record<string, string>>;
}

/** A tenant for one route: what its requests change or end, no other route misses. */
async function aWorld(relay: Relay): Promise<World> {
  const owner = await anApplication(relay, await aPlatform(relay, { name: MARK }), { name: MARK });
  const foreign = await anApplication(relay);
  const { key, platform } = owner;
  const profile = await aProfile(relay, owner, { title: MARK });
  const restricted = await aKey(relay, owner, {
    scope: "restricted",
    allowedProfileIds: [profile.id],
  });
  const spare = await aKey(relay, owner, { name: MARK });
  const connect = `/v1/profiles/${profile.id}/connect/sessions`;
  const session = dataOf(await relay.call("POST", connect, { key, body: {} }));
  const hook = { url: "https://hooks.example.com/", description: MARK };
  const webhook = dataOf(await relay.call("POST", "/v1/webhooks", { key, body: hook }));
  const post = await relay.call("POST", "/v1/posts", {
    key,
    headers: { "x-profile-id": profile.id, "idempotency-key": "the-scheduled-one" },
    body: { text: MARK, platforms: ["bluesky"], scheduleAt: "2026-06-01T00:00:00Z" },
  });
  return {
    ids: {
      applicationId: owner.id,
      platformId: platform.id,
      profileId: profile.id,
      keyId: spare.id,
      userId: platform.userId,
      sessionId: session.id,
      webhookId: webhook.id,
      postId: dataOf(post).id,
      network: "mastodon",
      token: "v1.k1.AAAA.BBBB.CCCC",
    },
    callers: {
      nobody: {},
      garbage: { key: `sk_live_${"x".repeat(500)}` },
      key: { key },
      restricted: { key: restricted.secret },
      session: { session: platform.session },
      "session of the application": {
        session: platform.session,
        headers: { "x-application-id": owner.id },
      },
      operator: { operator: ["Admin"] },
      "operator without a role": { operator: [] },
      "foreign key": { key: foreign.key },
      "foreign session": { session: foreign.platform.session },
    },
  };
}

function send(relay: Relay, world: World, route: Route, request: FuzzedRequest) {
  const filled = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => world.ids[name] ?? "unknown");
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent((request.path[name] ?? world.ids[name] ?? "x_0").toWellFormed()),
  );
  const query = new URLSearchParams(
    request.query.map(([name, text]): [string, string] => [name, filled(text)]),
  );
  const caller = world.callers[request.caller] ?? {};
  const asked = Object.entries(request.headers).map(([name, text]) => [name, filled(text)]);
  return relay.call(route.method, `/${path}?${query.toString()}`, {
    ...caller,
    headers: { ...Object.fromEntries(asked), ...caller.headers },
    rawBody: typeof request.rawBody === "string" ? filled(request.rawBody) : request.rawBody,
  });
}

const statuses = new Map<number, number>();

const relay = useRelay({
  outbound: {
    request: () => Promise.reject(new HttpFailure("not_sent", "connect_failed")),
    open: () => Promise.reject(new HttpFailure("not_sent", "connect_failed")),
    browserUrl: (url) => url,
    close: () => Promise.resolve(),
  },
  // Guesses at passwords are judged to the end here, not turned away.
  settings: { LOGIN_ATTEMPTS: "100" },
});

describe("whatever is asked, the answer is a declared one and no failure of ours", () => {
  test(`each of more than ${RUNS_LEAST} requests gets a declared answer and no failure of ours`, () => {
    expect(routes.length * RUNS_PER_ROUTE).toBeGreaterThan(RUNS_LEAST);
  });

  const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const);
  test.each(named)(
    "any request gets a declared answer: %s",
    async (_name, route) => {
      const world = await aWorld(relay);
      const property = fc.asyncProperty(requestsOf(route), async (request) => {
        // Throws when the route does not declare the answer.
        const { status, body } = await send(relay, world, route, request);
        expect(status).toBeLessThan(500);
        expect(foreignWords(body?.error?.details?.issues)).toEqual([]);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (STRANGERS.includes(request.caller)) {
          const text = JSON.stringify(body) ?? "";
          if (request.caller !== "operator without a role") expect(text).not.toContain(MARK);
        }
      });
      // What was asked before has changed the world: a failure could not be had again with less.
      await fc.assert(property, { numRuns: RUNS_PER_ROUTE, seed: SEED, endOnFailure: true });
    },
    TEST_MS_MAX,
  );

  test("many of the random requests are let through, and the others refused for reasons of every kind", () => {
    const counts = [...statuses];
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    const successes = counts.filter(([status]) => status < 300);
    const passed = successes.reduce((sum, [, count]) => sum + count, 0);
    // Pages take any request, and are not among the operations.
    expect(passed / all).toBeGreaterThan(0.1);
    const seen = [...statuses.keys()];
    expect(seen).toEqual(expect.arrayContaining([400, 401, 403, 404, 409, 413, 415]));
  });
});
