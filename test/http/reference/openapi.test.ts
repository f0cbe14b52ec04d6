import { readFileSync } from "node:fs";
import { execFile } from "node:child_process";
import { WARNING_CODES } from "../../../src/shared/networks/contract/errors.ts";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { chapters, routes } from "../../../src/functions/routes.ts";
import { ERROR_CODES } from "../../../src/shared/runtime/error-catalog.ts";
import { errorsOfRoute } from "../../../tools/reference/declared-answers.ts";
import { openApi } from "../../../tools/reference/openapi.ts";
import { ACCESS_CONTRACTS } from "../../../src/shared/http/access/access-contract.ts";
import { chaptersForPrograms } from "../../../tools/reference/render-reference.ts";
import type {
  JsonSchema,
  OpenApiOperation,
  Parameter,
} from "../../../tools/reference/openapi-types.ts";
import type { Route } from "../../../src/shared/http/route.ts";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { startRelay } from "../../setup/relay.ts";
import { lintDocument, toolsFolder, TOOLS_MS_MAX } from "./document-lint.ts";

const BASE_URL = "https://relay.example.net/api";
const described = chaptersForPrograms(chapters);
const document = openApi(described, BASE_URL, "Publishing Relay");
const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const programRoutes = described.flatMap((chapter) => chapter.routes);
const named = programRoutes.map((route) => [nameOf(route), route] as const);

function operation(name: string): OpenApiOperation {
  const [method = "", path = ""] = name.split(" ");
  const found = document.paths[`/${path}`]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`the document has no ${name}`);
  return found;
}

function parameters(name: string): Parameter[] {
  return (operation(name).parameters ?? []).map((parameter) => {
    if (!("$ref" in parameter)) return parameter;
    const found = document.components.parameters[parameter.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`the document has no ${parameter.$ref}`);
    return found;
  });
}

describe("the document as a whole", () => {
  test("says what it is and where it holds", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info.version).toBe("0.2.0");
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(document.info["x-release"]).toBe(version);
    expect(document.servers.map(({ url }) => url)).toEqual([BASE_URL]);
    expect(Object.keys(document.components.securitySchemes)).toEqual([
      "apiKey",
      "session",
      "operator",
    ]);
  });

  describe("to a linter", () => {
    beforeAll(() => toolsFolder().then(() => undefined), TOOLS_MS_MAX);

    test("a linter finds the document valid OpenAPI that keeps the recommended rules, a few on purpose excepted", async () => {
      const found = await lintDocument(JSON.stringify(document));
      // All answers refer to the one schema of errors. That of a code is there for its details.
      const isOfCode = (line: string) => /^no-unused-components .*\/schemas\/\w+Error$/.test(line);
      expect(found.filter(isOfCode)).toHaveLength(ERROR_CODES.length);
      expect(found.filter((line) => !isOfCode(line))).toEqual([
        // It leads to storage.
        "operation-2xx-response #/paths/~1v1~1media~1{mediaId}~1content/get/responses",
        // These take nothing that could be wrong with a request.
        "operation-4xx-response #/paths/~1health/get/responses",
        "operation-4xx-response #/paths/~1ready/get/responses",
      ]);
    });
  });

  test("every error of every operation has the one schema of errors, so that clients get its code and message", () => {
    let errors = 0;
    for (const operations of Object.values(document.paths))
      for (const { responses } of Object.values(operations))
        for (const [status, given] of Object.entries(responses)) {
          if (Number(status) < 400) continue;
          const answer =
            "$ref" in given
              ? document.components.responses[given.$ref.split("/").at(-1) ?? ""]
              : given;
          const json = answer?.content?.["application/json"];
          // A page that only browsers get has no JSON.
          if (json === undefined) continue;
          errors += 1;
          expect(json.schema).toEqual({ $ref: "#/components/schemas/Error" });
        }
    expect(errors).toBeGreaterThan(500);
    const { error } = document.components.schemas["Error"]?.properties ?? {};
    expect(error?.required).toEqual(["code", "message", "details", "requestId", "docUrl"]);
    expect(error?.properties?.["code"]?.enum).toEqual(ERROR_CODES);
  });

  test("the document as a whole has every route that programs call and nothing else", () => {
    const operations = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.slice(1)}`),
    );
    expect(operations.toSorted()).toEqual(programRoutes.map(nameOf).toSorted());
    const left = routes.filter((route) => !programRoutes.includes(route));
    expect(left.every(({ spec }) => spec.access.contract.credentials.length === 0)).toBe(true);
    // This is the one page that customers lead their users to.
    const pages = programRoutes.filter(({ spec }) => spec.produces === "page");
    expect(pages.map(nameOf)).toEqual(["GET v1/connect/ui"]);
    expect(programRoutes.filter(({ spec }) => spec.bodyKind === "form")).toEqual([]);
  });

  test("names operations in camelCase, each once, under the chapters of the specification", () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(document.tags.map(({ name }) => name)).toEqual(described.map(({ name }) => name));
    const used = new Set(operations.flatMap(({ tags }) => tags));
    const { tags } = document.webhooks["event"]?.post ?? { tags: [] };
    expect([...used]).toEqual(expect.arrayContaining([...tags]));
    expect([...used].toSorted()).toEqual(described.map(({ name }) => name).toSorted());
  });

  test("names each call by a title of its own, which says in a few words what it does", () => {
    const titles = programRoutes.map((route) => operation(nameOf(route)).summary);
    expect(titles.filter((title) => !/^[A-Z][^.]{3,48}$/.test(title))).toEqual([]);
    expect(titles.filter((title) => title.split(" ").length < 2)).toEqual([]);
    expect(new Set(titles).size).toBe(titles.length);
  });

  test("no operation has a code that it can't answer", () => {
    const unverified = programRoutes.filter((route) =>
      errorsOfRoute(route).includes("email_unverified"),
    );
    // A user with an email to verify may read, log out and ask for the mail again.
    expect(unverified.filter(({ method }) => method === "GET")).toEqual([]);
    const { anySession } = ACCESS_CONTRACTS;
    expect(unverified.filter(({ spec }) => spec.access.contract === anySession)).toEqual([]);
  });

  test("every error code is answered somewhere", () => {
    const answered = new Set<string>(routes.flatMap((route) => errorsOfRoute(route)));
    const nowhere = ERROR_CODES.filter((code) => !answered.has(code));
    // 405 is the answer of a path, not of an operation; limits of numbers come with webhooks.
    expect(nowhere.filter((code) => code !== "limit_reached")).toEqual(["method_not_allowed"]);
  });

  test("GET /v1/openapi.json answers it to anyone, with this deployment's address", async () => {
    const relay = await startRelay({ settings: { PUBLIC_BASE_URL: BASE_URL } });
    const { status, headers, body } = await relay.call("GET", "/v1/openapi.json");
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(body).toEqual(JSON.parse(JSON.stringify(document)));
    await relay.stop();
  });
});

describe("what routes declare", () => {
  test.each(named)("%s declares what it answers", (_name, { spec }) => {
    const hasJson = ![204, 302].includes(spec.status) && spec.produces === undefined;
    expect(spec.response !== undefined).toBe(hasJson);
    if (spec.produces === "page") expect(spec.answers ?? { 200: "" }).toHaveProperty("200");
  });

  test.each(named)("%s shows true examples", (_name, { spec }) => {
    const { body, answer } = spec.examples?.() ?? {};
    const isForm = spec.bodyKind === "form";
    expect(body !== undefined).toBe(spec.body !== undefined && !isForm);
    expect(answer !== undefined).toBe(spec.response !== undefined);
    if (body !== undefined) expect(spec.body?.().safeParse(body)).toMatchObject({ success: true });
    const shown = spec.response?.().safeParse(answer);
    expect(shown === undefined || shown.success, z.prettifyError(shown?.error ?? empty)).toBe(true);
  });
});

const empty = new z.ZodError([]);

describe("what callers have to send", () => {
  const credentials = (name: string) =>
    operation(name).security.flatMap((alternative) => Object.keys(alternative));
  const headers = (name: string) =>
    parameters(name)
      .filter((parameter) => parameter.in === "header")
      .map((parameter) => parameter.name + (parameter.required ? "!" : ""));

  test.each([
    ["GET health", [], []],
    ["POST v1/auth/login", [], []],
    ["GET v1/me", ["apiKey", "session"], ["X-Application-Id"]],
    ["POST v1/applications", ["session"], ["X-Application-Id"]],
    ["POST v1/keys", ["apiKey", "session"], ["X-Application-Id"]],
    [
      "POST v1/posts",
      ["apiKey", "session"],
      ["Idempotency-Key!", "X-Profile-Id!", "X-Application-Id", "X-Profile-Grant"],
    ],
    [
      "GET v1/posts/{postId}",
      ["apiKey", "session"],
      ["X-Profile-Id!", "X-Application-Id", "X-Profile-Grant"],
    ],
    [
      "GET v1/profiles/{profileId}/connections",
      ["apiKey", "session"],
      ["X-Profile-Id", "X-Application-Id", "X-Profile-Grant"],
    ],
    ["GET v1/admin/platforms", ["operator"], []],
  ])("%s: credentials %j, headers %j", (name, wantedCredentials, wantedHeaders) => {
    expect(credentials(name)).toEqual(wantedCredentials);
    expect(headers(name)).toEqual(wantedHeaders);
  });

  test("a query parameter is what it means, with its limits and what its absence means", () => {
    const found = parameters("GET v1/posts").filter((parameter) => parameter.in === "query");
    expect(found.map(({ name }) => name)).toEqual([
      "limit",
      "cursor",
      "status",
      "platform",
      "externalId",
      "from",
      "to",
    ]);
    expect(found.some(({ required }) => required)).toBe(false);
    expect(found[0]?.schema).toEqual({ type: "integer", minimum: 1, maximum: 100, default: 25 });
  });

  test("a body shows its limits, and may be left out where every field may", () => {
    const { createKey, retryPost } = Object.fromEntries(
      Object.values(document.paths)
        .flatMap((path) => Object.values(path))
        .map((one) => [one.operationId, one]),
    );
    expect(createKey?.requestBody?.required).toBe(false);
    expect(retryPost?.requestBody?.required).toBe(false);
    expect(operation("POST v1/posts").requestBody?.required).toBe(true);
    const { PostRequest } = document.components.schemas;
    expect(PostRequest?.additionalProperties).toBe(false);
    expect(PostRequest?.required).toEqual(["platforms"]);
    expect(PostRequest?.properties?.["platforms"]).toMatchObject({
      minItems: 1,
      maxItems: NETWORK_NAMES.length,
      uniqueItems: true,
    });
  });
});

/** The formats of JSON Schema (2020-12, 7.3) and of OpenAPI's registry that the document may use. */
const FORMATS = ["date-time", "email", "uri", "int64"];

/** Returns every schema of the document, with its place. Examples and defaults are values, not schemas. */
function allSchemas(
  part: unknown,
  place = "#",
): { readonly place: string; readonly schema: JsonSchema }[] {
  if (typeof part !== "object" || part === null) return [];
  const inner = Object.entries(part)
    .filter(([name]) => !["example", "examples", "default", "enum"].includes(name))
    .flatMap(([name, value]) => allSchemas(value, `${place}/${name}`));
  return [{ place, schema: part }, ...inner];
}

describe("what generators make of it", () => {
  const places = (isOdd: (schema: JsonSchema) => boolean) =>
    allSchemas(JSON.parse(JSON.stringify(document)))
      .filter(({ schema }) => isOdd(schema))
      .map(({ place }) => place);
  const isList = (schema: JsonSchema | undefined): boolean => {
    if (schema?.$ref === undefined) return schema?.enum !== undefined;
    return isList(document.components.schemas[schema.$ref.replace("#/components/schemas/", "")]);
  };

  test("knows every format", () => {
    const isUnknown = ({ format }: JsonSchema) =>
      typeof format === "string" && !FORMATS.includes(format);
    expect(places(isUnknown)).toEqual([]);
  });

  test("finds room for what an integer may be: without a format it has 32 bits", () => {
    const isCut = ({ type, maximum = Infinity, format }: JsonSchema) =>
      [type].flat().includes("integer") && maximum > 2 ** 31 - 1 && format !== "int64";
    expect(places(isCut)).toEqual([]);
    expect(document.components.schemas["Balance"]?.properties?.["tokenBalance"]?.format).toBe(
      "int64",
    );
  });

  test("finds every list of words in one piece", () => {
    const isMixed = ({ anyOf = [] }: JsonSchema) => anyOf.filter(isList).length > 1;
    expect(places(isMixed)).toEqual([]);
    expect(document.components.schemas["FindingCode"]?.enum).toEqual([
      ...(document.components.schemas["LegErrorCode"]?.enum ?? []),
      ...WARNING_CODES,
    ]);
  });

  test("finds null among the types and values of a schema, and in a choice only with a reference", () => {
    const isNull = ({ type }: JsonSchema) => type === "null";
    const isOddChoice = ({ anyOf = [] }: JsonSchema) =>
      anyOf.some(isNull) && anyOf.some(({ $ref, ...own }) => $ref === undefined && !isNull(own));
    expect(places(isOddChoice)).toEqual([]);
    const isHalf = ({ type, enum: values }: JsonSchema) =>
      values !== undefined && values.includes(null) !== [type].flat().includes("null");
    expect(places(isHalf)).toEqual([]);
    const { LedgerEntry, CreateKeyRequest, Leg } = document.components.schemas;
    expect(LedgerEntry?.properties?.["platform"]).toMatchObject({
      type: ["string", "null"],
      enum: [...NETWORK_NAMES, null],
    });
    expect(CreateKeyRequest?.properties?.["scope"]).toMatchObject({
      type: ["string", "null"],
      enum: ["app_admin", "restricted", null],
    });
    expect(Leg?.properties?.["error"]?.anyOf).toEqual([
      { $ref: "#/components/schemas/LegError" },
      { type: "null" },
    ]);
  });

  test("finds no choice directly in a choice, and no keyword that many do not read", () => {
    const isNested = ({ anyOf = [] }: JsonSchema) => anyOf.some((one) => one.anyOf !== undefined);
    const unread = ["oneOf", "allOf", "not", "if", "prefixItems", "patternProperties", "$defs"];
    const isUnread = (schema: JsonSchema) =>
      unread.some((keyword) => Object.hasOwn(schema, keyword));
    expect(places(isNested)).toEqual([]);
    expect(places(isUnread)).toEqual([]);
  });

  test("finds a value for each parameter that a person has to fill in", () => {
    // The pages are opened by browsers, with parameters of their own.
    const forPeople = named.filter(([, { spec }]) => spec.browserFields === undefined);
    const lacking = forPeople.flatMap(([name]) =>
      parameters(name)
        .filter(({ schema, example }) => {
          return example === undefined && schema.default === undefined && !isList(schema);
        })
        .map((parameter) => `${name}: ${parameter.in} ${parameter.name}`),
    );
    expect(lacking).toEqual([]);
  });

  test.each(named)("%s takes the examples of its parameters", (name) => {
    for (const { schema, example } of parameters(name)) {
      if (schema.pattern === undefined || example === undefined) continue;
      expect(example).toMatch(new RegExp(schema.pattern));
    }
  });
});

describe("what callers are answered", () => {
  const statuses = (name: string) => Object.keys(operation(name).responses);

  test.each([
    ["GET health", ["200", "500"]],
    ["POST v1/posts", "201 202 400 401 402 403 404 409 411 413 415 422 429 500 503".split(" ")],
    ["DELETE v1/keys/{keyId}", ["204", "400", "401", "403", "404", "409", "429", "500", "503"]],
    ["GET v1/connect/ui", ["200", "400", "404", "410", "429", "500", "503"]],
  ])("%s: %j", (name, wanted) => {
    expect(statuses(name)).toEqual(wanted);
  });

  test("answers are open to fields that come later, requests are not", () => {
    const { Post, PostRequest } = document.components.schemas;
    expect(Post).not.toHaveProperty("additionalProperties");
    expect(PostRequest).toHaveProperty("additionalProperties", false);
  });

  test("a replay, a refusal by rate and a missing credential show their headers", () => {
    const { responses } = operation("POST v1/posts");
    expect(responses["202"]).toHaveProperty("headers.Idempotent-Replayed");
    const refusals = document.components.responses;
    expect(refusals["TooManyRequests"]).toHaveProperty("headers.Retry-After");
    expect(refusals["Unauthorized"]).toHaveProperty("headers.WWW-Authenticate");
    for (const answer of Object.values(refusals))
      expect(answer.headers).toHaveProperty("X-Request-Id");
  });
});

/** Prints what a process loads that knows all routes and answered none. */
const PRINT_LOADED = `
  import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) { console.log(url); return next(url, context); } });
  await import(process.argv[1]);
`;

test("nothing of the reference is loaded before it is asked for", async () => {
  const entry = new URL("../../../src/functions/routes.ts", import.meta.url).href;
  const args = ["--input-type=module", "-e", PRINT_LOADED, entry];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const loaded = stdout.split("\n").filter((url) => url.includes("/src/shared/http/"));
  expect(loaded.some((url) => url.endsWith("/access.ts"))).toBe(true);
  expect(loaded.filter((url) => /openapi|docs-|declared|reference|guide/.test(url))).toEqual([]);
});
