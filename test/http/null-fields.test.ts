import { describe, expect, test } from "vitest";
import { chapters, routes } from "../../src/functions/routes.ts";
import { parseInput } from "../../src/shared/http/parse-input.ts";
import { openApi } from "../../tools/reference/openapi.ts";
import type { JsonSchema } from "../../tools/reference/openapi-types.ts";
import type { Route } from "../../src/shared/http/route.ts";
import { AppError } from "../../src/shared/runtime/errors.ts";
import { aKey, dataOf } from "../setup/factories.ts";
import { aPublisher } from "../setup/publisher.ts";
import type { CallOptions } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { forFile } from "../setup/for-file.ts";

const { relay } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay));

const document = openApi(chapters, "https://relay.example.net/api", "Publishing Relay");

function resolved(schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : resolved(document.components.schemas[name] ?? {});
}

const takesNull = (schema: JsonSchema): boolean => {
  const { type, anyOf = [] } = resolved(schema);
  return [type].flat().includes("null") || anyOf.some(takesNull);
};

interface Field {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
}

/** Every field that may be absent, however deep. */
function optionalFields(given: JsonSchema, above: readonly string[] = []): Field[] {
  const { properties = {}, required = [], items, anyOf = [] } = resolved(given);
  const own = Object.entries(properties).flatMap(([name, schema]) => {
    const path = [...above, name];
    const field = required.includes(name) ? [] : [{ path, schema }];
    return [...field, ...optionalFields(schema, path)];
  });
  const ofItems = items === undefined ? [] : optionalFields(items, [...above, "0"]);
  return [...own, ...ofItems, ...anyOf.flatMap((option) => optionalFields(option, above))];
}

const bodyOf = ({ method, path }: Route): JsonSchema => {
  const operation = document.paths[`/${path}`]?.[method.toLowerCase()];
  return operation?.requestBody?.content["application/json"]?.schema ?? {};
};

/** The value with something in the place of the path, or with nothing there. */
function changed(value: unknown, [name, ...rest]: readonly string[], by?: null): unknown {
  if (name === undefined) return value;
  const isItem = name === "0";
  const fields: Record<string, unknown> = {
    ...((isItem ? { 0: [value].flat()[0] } : value) as object),
  };
  if (rest.length > 0) fields[name] = changed(fields[name] ?? {}, rest, by);
  else if (by === null) fields[name] = null;
  else delete fields[name];
  return isItem ? [fields[name] ?? {}] : fields;
}

async function read(route: Route, body: unknown): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(body));
  const incoming = {
    method: route.method,
    url: new URL("https://relay.example.net/api"),
    headers: new Headers({ "content-type": "application/json" }),
    params: {},
    body: () => Promise.resolve(new Uint8Array(bytes)),
  };
  const call = { services: relay.services, scope: publisher.owner, params: {} };
  try {
    return await parseInput(route, incoming, call);
  } catch (error) {
    if (error instanceof AppError) return error.details;
    throw error;
  }
}

const posted = routes.filter(
  ({ method, spec }) => method === "POST" && spec.body !== undefined && spec.bodyKind !== "form",
);

describe("null in a POST is as good as absent, and the document says so", () => {
  const cases = posted.flatMap((route) =>
    optionalFields(bodyOf(route)).map(
      (field) => [`${route.path} ${field.path.join(".")}`, route, field] as const,
    ),
  );

  test("null in any optional field of a POST is as good as absent", () => {
    expect(cases.length).toBeGreaterThan(100);
  });

  test.each(cases)(
    "null in a POST is as good as absent: %s",
    async (_name, route, { path, schema }) => {
      const example = route.spec.examples?.().body ?? {};
      const absent = await read(route, changed(example, path));
      expect(await read(route, changed(example, path, null))).toEqual(absent);
      expect(takesNull(schema)).toBe(true);
    },
  );

  test("where a caller sends it", async () => {
    const nothing = {
      text: null,
      mediaUrls: null,
      altTexts: null,
      scheduleAt: null,
      platformOptions: null,
      externalId: null,
      metadata: null,
    };
    const options = { bluesky: null, mastodon: { text: null, spoilerText: null, focus: null } };
    const send = (body: object) =>
      relay.call("POST", "/v1/posts", {
        key: publisher.key,
        headers: { ...publisher.headers, "idempotency-key": "null-is-absent" },
        body,
      });
    const post = { text: "Null is absent", platforms: ["mastodon"] };
    const first = await send({ ...nothing, ...post });
    const again = await send({ ...nothing, ...post, platformOptions: options });
    expect([first.status, again.status]).toEqual([202, 409]);
    expect((await send(post)).headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("null in a POST is refused", () => {
  const DRAFT = { text: "Fresh bread", platforms: ["bluesky"] };
  test.each([
    ["in free-form values", { ...DRAFT, metadata: { a: null } }, "metadata.a"],
    ["for a field that must be there", { ...DRAFT, platforms: null }, "platforms"],
    ["for a field that there is not", { ...DRAFT, color: null }, "color"],
    ["as an item", { ...DRAFT, mediaUrls: [null] }, "mediaUrls.0"],
    ["as the whole body", null, "body"],
  ])("null in a POST is refused: %s", async (_where, body, path) => {
    const answer = await relay.call("POST", "/v1/posts/validate", {
      key: publisher.key,
      headers: { ...publisher.headers, "content-type": "application/json" },
      rawBody: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.issues.map((issue: Field) => issue.path)).toEqual([path]);
  });
});

/** What null does to each field of each PATCH: the value that the field then has, or `refused`. */
const CHANGES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "v1/posts/{postId}": {
    text: "",
    platforms: "refused",
    mediaUrls: [],
    altTexts: [],
    scheduleAt: "refused",
    platformOptions: {},
    externalId: null,
    metadata: {},
    expectedUpdatedAt: "refused",
  },
  "v1/users/{userId}": { role: "refused", locale: "refused" },
  "v1/profiles/{profileId}": {
    title: "refused",
    externalId: null,
    metadata: {},
    status: "refused",
  },
  "v1/applications/{applicationId}": { name: "refused", status: "refused" },
  "v1/keys/{keyId}": { name: "refused" },
  "v1/webhooks/{webhookId}": {
    url: "refused",
    events: "refused",
    description: null,
    status: "refused",
  },
  "v1/platform/notices": {
    connectionNeedsReauth: "refused",
    endpointDisabled: "refused",
    balanceLow: "refused",
    outcomeUnknown: "refused",
  },
  "v1/billing/limits": { dailyTokenBudget: null },
  "v1/admin/platforms/{platformId}": { status: "refused" },
};

describe("null in a PATCH clears what can be cleared, and is refused elsewhere", () => {
  const patched = routes.filter(({ method }) => method === "PATCH");
  const fieldsOf = (route: Route) => resolved(bodyOf(route)).properties ?? {};

  test("null in any field of a PATCH clears it, or is refused", () => {
    const all = patched.map((route) => [route.path, Object.keys(fieldsOf(route)).toSorted()]);
    const known = Object.entries(CHANGES).map(([path, fields]) => [
      path,
      Object.keys(fields).toSorted(),
    ]);
    expect(Object.fromEntries(all)).toEqual(Object.fromEntries(known));
  });

  async function aScheduledPost(): Promise<string> {
    const answer = await relay.call("POST", "/v1/posts", {
      key: publisher.key,
      headers: { ...publisher.headers, "idempotency-key": crypto.randomUUID() },
      body: {
        text: "Later",
        platforms: ["bluesky"],
        mediaUrls: ["https://media.sandbox.test/photo.jpg"],
        altTexts: ["A photo"],
        scheduleAt: new Date(relay.clock.now().getTime() + 3_600_000).toISOString(),
        platformOptions: { bluesky: { langs: ["en"] } },
        externalId: "a",
        metadata: { a: "b" },
      },
    });
    return dataOf(answer).id;
  }

  async function pathOf({ path }: Route): Promise<string> {
    const { application, key, profileId } = publisher;
    const endpoint = async () => {
      const body = { url: "https://receiver.example.org/", description: "Ours" };
      return dataOf(await relay.call("POST", "/v1/webhooks", { key, body })).id;
    };
    const ids: Readonly<Record<string, () => Promise<string> | string>> = {
      postId: aScheduledPost,
      profileId: () => profileId,
      applicationId: () => application.id,
      keyId: async () => (await aKey(relay, application)).id,
      webhookId: endpoint,
      platformId: () => application.platform.id,
      userId: () => application.platform.userId,
    };
    const [, name = ""] = /\{(\w+)\}/.exec(path) ?? [];
    return `/${path.replace(`{${name}}`, (await ids[name]?.()) ?? "")}`;
  }

  function callerOf(route: Route): CallOptions {
    const { session } = publisher.application.platform;
    const { contract } = route.spec.access;
    if (contract.credentials.includes("operator")) return { operator: ["Admin"] };
    return route.path === "v1/posts/{postId}"
      ? { key: publisher.key, headers: publisher.headers }
      : { session };
  }

  test.each(
    patched.flatMap((route) =>
      Object.entries(CHANGES[route.path] ?? {}).map(
        ([name, wanted]) => [`${route.path} ${name}`, route, name, wanted] as const,
      ),
    ),
  )("null in a PATCH clears, or is refused: %s", async (_name, route, name, wanted) => {
    const { status, body } = await relay.call("PATCH", await pathOf(route), {
      ...callerOf(route),
      // Texts without files would be refused.
      body: { [name]: null, ...(name === "mediaUrls" ? { altTexts: null } : {}) },
    });
    const isRefused = wanted === "refused";
    expect(takesNull(fieldsOf(route)[name] ?? {})).toBe(!isRefused);
    if (isRefused) {
      expect([status, body.error?.code]).toEqual([400, "validation_failed"]);
      expect(body.error.details.issues).toMatchObject([{ path: name }]);
    } else {
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.data[name]).toEqual(wanted);
    }
  });

  test("inside of what replaces the whole it is as good as absent", async () => {
    const path = `/v1/posts/${await aScheduledPost()}`;
    const { status, body } = await publisher.call("PATCH", path, {
      body: { platformOptions: { bluesky: { langs: null, text: "Soon" }, mastodon: null } },
    });
    expect([status, body.data?.platformOptions]).toEqual([200, { bluesky: { text: "Soon" } }]);
  });
});
