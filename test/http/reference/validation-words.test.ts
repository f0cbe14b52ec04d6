import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chapters, routes } from "../../../src/functions/routes.ts";
import { jsonProblem } from "../../../src/shared/http/json-problem.ts";
import { parseInput, readJson } from "../../../src/shared/http/parse-input.ts";
import { openApi } from "../../../tools/reference/openapi.ts";
import type { Route } from "../../../src/shared/http/route.ts";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import { exampleId } from "../../../src/shared/runtime/ids.ts";
import { foreignWords } from "./own-words.ts";
import { createShapes, nearly } from "./request-shapes.ts";

const QUOTED = NETWORK_NAMES.map((name) => `"${name}"`);
const ANY_NETWORK = `${QUOTED.slice(0, -1).join(", ")} or ${QUOTED.at(-1)}`;

const RUNS_PER_ROUTE = 200;
const SEED = 20_260_304;

function routeOf(method: string, path: string): Route {
  const found = routes.find((route) => route.method === method && route.path === path);
  if (found === undefined) throw new Error(`there is no ${method} ${path}`);
  return found;
}

function formOf(value: unknown): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, item] of Object.entries(Object(value))) fields.append(name, String(item));
  return fields;
}

interface Refusal {
  readonly message: string;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}

/** Asks the schemas of a route alone: what needs a clock or storage has tests of its own. */
async function refusalOf(route: Route, body: unknown, query = ""): Promise<Refusal | undefined> {
  const isForm = route.spec.bodyKind === "form";
  const text = isForm ? formOf(body).toString() : JSON.stringify(body);
  const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
  const incoming = {
    method: route.method,
    url: new URL(`https://relay.example.net/?${query}`),
    headers: new Headers({ "content-type": type }),
    params: {},
    body: () => Promise.resolve(new TextEncoder().encode(text)),
  };
  const spec = { ...route.spec };
  delete spec.moreIssues;
  try {
    // Safe: nothing looks at who asks, once nothing is looked at beside the schemas.
    await parseInput({ ...route, spec }, incoming, {} as Parameters<typeof parseInput>[2]);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Safe: this is what a refusal has.
    const { issues = [] } = error.details as { issues?: Refusal["issues"] };
    return { message: error.message, issues };
  }
}

const told = async (method: string, path: string, body: unknown, query?: string) =>
  (await refusalOf(routeOf(method, path), body, query))?.issues.map(({ message }) => message);

const POSTS = ["POST", "v1/posts"] as const;
const inBluesky = (options: object) => ({
  platforms: ["bluesky"],
  platformOptions: { bluesky: options },
});

describe("a refused request is told in whole sentences what each field has to be", () => {
  test.each<readonly [string, object, readonly string[]]>([
    [
      "text for a list",
      { platforms: "bluesky" },
      [`"platforms" must be a list of 1 to ${NETWORK_NAMES.length} items, not text.`],
    ],
    [
      "a list that is empty, and text that is a number",
      { text: 5, platforms: [] },
      [
        `"text" must be text of at most 63,206 characters, not a number.`,
        `"platforms" must have 1 to ${NETWORK_NAMES.length} items, not 0.`,
      ],
    ],
    [
      "nothing at all",
      {},
      [`"platforms" is missing and must be a list of 1 to ${NETWORK_NAMES.length} items.`],
    ],
    [
      "a choice that there is not",
      { platforms: ["myspace"] },
      [`"platforms.0" must be ${ANY_NETWORK}.`],
    ],
    [
      "a name of the customer's that is too long",
      { platforms: ["bluesky"], metadata: { ["k".repeat(65)]: "x" } },
      [
        `"metadata.${"k".repeat(65)}" has an invalid name: it must have 1 to 64 characters, not 65.`,
      ],
    ],
    [
      "what is neither of two kinds",
      inBluesky({ linkCard: 5 }),
      [`"platformOptions.bluesky.linkCard" must be an object or false.`],
    ],
    [
      "what is of one of two kinds, with every field that is wrong",
      inBluesky({ linkCard: { url: "x", color: 1 } }),
      [
        `"platformOptions.bluesky.linkCard.url" must be an http or https URL.`,
        `"platformOptions.bluesky.linkCard.title" is missing and must be text of 1 to 300 characters.`,
        `"platformOptions.bluesky.linkCard.color" is not a known field. The fields are "url", "title", "description" and "thumbnailUrl".`,
      ],
    ],
  ])(
    "a refusal says in whole sentences what each field has to be: %s",
    async (_name, body, sentences) => {
      expect(await told(...POSTS, body)).toEqual(sentences);
    },
  );

  test.each([
    ["txt", "text"],
    ["mediaUrl", "mediaUrls"],
    ["media", "mediaUrls"],
    ["scheduledAt", "scheduleAt"],
    ["schedule_at", "scheduleAt"],
    ["platform", "platforms"],
  ])(
    "the field that was probably meant by %s comes first, then all fields",
    async (name, meant) => {
      const [sentence] = (await told(...POSTS, { platforms: ["bluesky"], [name]: 1 })) ?? [];
      expect(sentence).toMatch(
        new RegExp(
          `^"${name}" is not a known field\\. Did you mean "${meant}"\\? The fields are "text", .*\\.$`,
        ),
      );
    },
  );

  test.each([
    ["POST", "v1/posts", { platforms: ["Bluesky"] }, "", "bluesky"],
    ["POST", "v1/posts", { platforms: ["instgram"] }, "", "instagram"],
    ["POST", "v1/media", { contentType: "image/jpg", bytes: 1 }, "", "image/jpeg"],
    ["POST", "v1/media", { contentType: "IMAGE/PNG", bytes: 1 }, "", "image/png"],
    ["POST", "v1/media", { contentType: "audio/mp3", bytes: 1 }, "", "audio/mpeg"],
    ["POST", "v1/media", { contentType: "video/mov", bytes: 1 }, "", "video/quicktime"],
    ["GET", "v1/posts", {}, "status=Scheduled", "scheduled"],
    ["GET", "v1/posts", {}, "platform=mastadon", "mastodon"],
  ])(
    "the choice that was probably meant comes first, then all choices: %s %s %j %s",
    async (...[method, path, body, query, meant]) => {
      expect(await told(method, path, body, query)).toEqual([
        expect.stringMatching(
          new RegExp(
            `^"[a-zA-Z0-9.]+" is not a known choice\\. Did you mean "${meant}"\\? It must be ".*" or "[^"]*"\\.$`,
          ),
        ),
      ]);
    },
  );

  test.each(["text/html", "image/svg", "image/svg+xml", "x".repeat(5_000), "image/", "/"])(
    "no choice is meant by %s",
    async (contentType) => {
      const [sentence] = (await told("POST", "v1/media", { contentType, bytes: 1 })) ?? [];
      expect(sentence).toMatch(/^"contentType" must be "image\/jpeg", /);
    },
  );

  test.each([
    { mediaUrls: [exampleId("file")] },
    inBluesky({ mediaUrls: [exampleId("file")] }),
    { platforms: ["instagram"], platformOptions: { instagram: { coverUrl: exampleId("file") } } },
  ])("the id of a file instead of its address is told which field to send: %j", async (draft) => {
    expect(await told(...POSTS, { platforms: ["bluesky"], ...draft })).toEqual([
      expect.stringMatching(/Url(?:s\.0)?" must be the `url` of the file, not its id: GET /),
    ]);
  });

  test.each(["color", "to", "x".repeat(5_000)])("nothing is meant by %s", async (name) => {
    const [sentence] = (await told(...POSTS, { platforms: ["bluesky"], [name]: 1 })) ?? [];
    expect(sentence).toContain('is not a known field. The fields are "text", ');
  });

  test("an unknown name in the query is called a query parameter", async () => {
    expect(await told("GET", "v1/profiles", {}, "page=2")).toEqual([
      '"page" is not a known query parameter. Pages have no numbers: send `page.nextCursor` of the page before as "cursor".',
    ]);
    expect(await told("GET", "v1/profiles", {}, "color=2")).toEqual([
      `"color" is not a known query parameter. The query parameters are "limit", "cursor", "externalId", "status" and "q".`,
    ]);
    expect(await told("GET", "v1/profiles", {}, "limits=2")).toEqual([
      expect.stringContaining('Did you mean "limit"?'),
    ]);
  });

  test("a search for posts with problems is led to the list that has it", async () => {
    expect(await told("GET", "v1/posts", {}, "problem=any")).toEqual([
      '"problem" is not a known query parameter. It is one of `GET /v1/applications/{applicationId}/posts`, which lists the posts of all profiles.',
    ]);
    expect(await told("GET", "v1/applications/{applicationId}/posts", {}, "problem=any")).toEqual(
      undefined,
    );
  });

  test.each([
    ['{"text": "a",}', "at line 1, column 14, a name in double quotes is expected"],
    ["{\"text\": 'a'}", "at line 1, column 10, a value is expected"],
    ['{\n  "text" "a"\n}', "at line 2, column 10, a colon is expected"],
    ['{"text": "a" "b": 1}', "at line 1, column 14, a comma or `}` is expected"],
    ['["a" 1]', "at line 1, column 6, a comma or `]` is expected"],
    ['["a", ]', "at line 1, column 7, a value is expected"],
    ["[01]", "at line 1, column 3, a comma or `]` is expected"],
    ["{text: 1}", "at line 1, column 2, a name in double quotes or `}` is expected"],
    ['{"a": 1} x', "at line 1, column 10, the end is expected"],
    ['{"a": "\n"}', "at line 1, column 7, a value is expected"],
    ["[1, /*", "at line 1, column 5, a value is expected"],
    ['{"text":', "it ends too early (line 1, column 9), where a value is expected"],
    ["[[1], [2]", "it ends too early (line 1, column 10), where a comma or `]` is expected"],
  ])("%j is no JSON, and the place is named", async (text, problem) => {
    expect(() => void JSON.parse(text)).toThrow(SyntaxError);
    const incoming = {
      method: "POST",
      url: new URL("https://relay.example.net/"),
      headers: new Headers({ "content-type": "application/json" }),
      params: {},
      body: () => Promise.resolve(new TextEncoder().encode(text)),
    };
    await expect(readJson(incoming)).rejects.toMatchObject({
      code: "invalid_json",
      message: `The body is not valid JSON: ${problem}.`,
    });
  });

  test("the place of a problem is found in whatever JSON.parse refuses", () => {
    const pieces = fc.constantFrom(
      ...'{}[],:"0123 \n-.eEtruefalsn\\'.split(""),
      "true",
      '"a"',
      "null",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        const problem = jsonProblem(text);
        // The end alone may follow a whole text.
        expect(
          problem.startsWith("it ends too early") && problem.endsWith("the end is expected"),
        ).toBe(isJson);
      }),
      { numRuns: 5_000, seed: SEED },
    );
  });

  test.each([
    ["v1/applications/{applicationId}/stats", "from=2026-11-28&to=2026-11-27", "from"],
    [
      "v1/applications/{applicationId}/posts",
      "from=2026-11-28T00:00:00Z&to=2026-11-27T00:00:00Z",
      "from",
    ],
    ["v1/profiles", "q=anna&status=active", "externalId"],
  ])("another field that a message names is in quotes: %s?%s", async (path, query, name) => {
    const [sentence] = (await told("GET", path, {}, query)) ?? [];
    expect(sentence).toContain(` "${name}"`);
  });

  test("a time that is missing is told to be missing", async () => {
    expect(await told("GET", "v1/billing/usage/export", {}, "to=2026-03-04T00:00:00Z")).toEqual([
      expect.stringMatching(/^"from" is missing and must be a time with Z or an offset, /),
    ]);
  });

  test("a limit out of range", async () => {
    const sentence = `"limit" must be a whole number from 1 to 100`;
    expect(await told("GET", "v1/posts", {}, "limit=1000")).toEqual([`${sentence}.`]);
    expect(await told("GET", "v1/posts", {}, "limit=101")).toEqual([`${sentence}, not 101.`]);
  });

  test("a password's length and an address, without repeating either", async () => {
    const body = { email: "ann", password: "hunter2", platformName: "A" };
    expect(await told("POST", "v1/auth/signup", body)).toEqual([
      `"email" must be an email address such as ann@example.com.`,
      `"password" must have 12 to 128 characters, not 7.`,
    ]);
  });

  test.each([
    ["emoji", "\u{1f600}", 121, 121],
    [
      "families, each of three joined emoji",
      "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
      60,
      300,
    ],
    ["letters", "x", 121, 121],
  ])("counts characters as the limit does: %s", async (_name, character, count, characters) => {
    const title = character.repeat(count);
    expect(await told("POST", "v1/profiles", { title: "\u{1f600}".repeat(120) })).toBe(undefined);
    expect(await told("POST", "v1/profiles", { title })).toEqual([
      `"title" must have 1 to 120 characters, not ${characters}.`,
    ]);
  });

  test("the first in the error's own message, with the number of the others", async () => {
    const refusal = await refusalOf(routeOf(...POSTS), { text: 5, platforms: [], color: 1 });
    expect(refusal?.message).toBe(
      '"text" must be text of at most 63,206 characters, not a number. `details.issues` has 2 more.',
    );
  });
});

const document = openApi(chapters, "https://relay.example.net/api", "Publishing Relay");
const shape = createShapes(document);
const withBody = routes
  .filter(({ spec }) => spec.body !== undefined)
  .map((route) => [`${route.method} ${route.path}`, route] as const);
const withQuery = routes
  .filter(({ spec }) => spec.query !== undefined)
  .map((route) => [`${route.method} ${route.path}`, route] as const);

function bodies(route: Route): fc.Arbitrary<unknown> {
  const operation = document.paths[`/${route.path}`]?.[route.method.toLowerCase()];
  const [content] = Object.values(operation?.requestBody?.content ?? {});
  if (content === undefined) return fc.jsonValue();
  const valid = shape(content.schema);
  return fc.oneof({ arbitrary: nearly(nearly(valid)), weight: 4 }, fc.jsonValue({ maxDepth: 2 }));
}

describe("no message is the schemas' library's", () => {
  test.each(withBody)("no message about a body is the library's: %s", async (_name, route) => {
    const property = fc.asyncProperty(bodies(route), async (body) => {
      expect(foreignWords((await refusalOf(route, body))?.issues)).toEqual([]);
    });
    await fc.assert(property, { numRuns: RUNS_PER_ROUTE, seed: SEED });
  });

  test.each(withQuery)("no message about a query is the library's: %s", async (_name, route) => {
    const parameters = Object.keys(
      (route.spec.query?.().def as { shape?: object } | undefined)?.shape ?? {},
    );
    for (const value of ["", "x", "-1", "1e9", "x".repeat(2_000), "\u{1f600}"]) {
      const query = formOf(Object.fromEntries(parameters.map((name) => [name, value])));
      query.set("color", "red");
      const refusal = await refusalOf(route, {}, query.toString());
      // The pages of browsers take whatever comes.
      if (parameters.length > 0) expect(refusal?.issues.map(({ path }) => path)).toContain("color");
      expect(foreignWords(refusal?.issues)).toEqual([]);
    }
  });
});
