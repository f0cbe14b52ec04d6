import { randomBytes } from "node:crypto";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { buildApp } from "../../tools/build.ts";
import {
  packagesOf,
  packagesOfParts,
  sourcesAtStart,
  sourcesOfParts,
  startSize,
} from "../../bench/bundle.ts";
import { callOf, HEALTH_CALL } from "../../bench/first-calls.ts";
import { BENCH_PREFIX, openTenant, settingsOf, startRelay } from "../../bench/relay.ts";
import { readStart } from "../../bench/results.ts";
import { routes } from "../../src/functions/routes.ts";
import { timers } from "../../src/functions/timers.ts";
import { workers } from "../../src/functions/workers.ts";
import { installedPackage, prepareStarting, type Starting } from "../../bench/starting.ts";
import type { StartReport } from "../../bench/starter.ts";
import type { Metafile } from "esbuild";

/** Minified code of the same sources differs by little from one release of the bundler to the next. */
const BYTES_TOLERATED = 1.05;
const SOURCES_MIN = 300;
/** Besides routes, workers and timers: what answers everything else. */
const UNROUTED = 1;

let starting: Starting;
let settings: Readonly<Record<string, string>>;
let metafile: Metafile;
let report: StartReport;
/** Packages whose code was loaded, inside the bundle or beside it. */
let packages: readonly string[];

beforeAll(async () => {
  [starting, metafile] = await Promise.all([prepareStarting(), buildApp()]);
  const storage = { tables: inject("azurite"), queues: inject("azurite"), stop: async () => {} };
  const prefix = `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;
  const tenant = await openTenant(startRelay(storage, prefix));
  const calls = [HEALTH_CALL, callOf(tenant, "get-v1-posts", "v1/posts")];
  const order = { entry: starting.appEntry, calls, notesModules: true };
  settings = settingsOf(storage, prefix);
  ({ report } = await starting.start(order, settings));
  const installed = report.modules.flatMap((url) => installedPackage(url) ?? []);
  packages = [...new Set([...packagesOfParts(metafile, report.modules), ...installed])];
}, 180_000);

afterAll(() => starting.stop());

test("the app registers its functions and answers /health and GET /v1/posts", () => {
  const declared = [...routes, ...workers, ...timers];
  expect(report.functions).toBe(declared.length + UNROUTED);
  expect(report.statuses).toEqual(["200", "200"]);
  expect(packages).toContain("@azure/data-tables");
});

test("no route, worker or store is loaded to register them, and of a network its settings alone", () => {
  const sources = sourcesAtStart(metafile);
  expect(sources).toContain("src/shared/networks/facebook/settings.ts");
  const others = [
    /^src\/main\.ts$/,
    /^src\/functions\/(?:manifest|timers)\.ts$/,
    /^src\/shared\/runtime\/(?:config|email|setting|settings|shape)\.ts$/,
    /^src\/shared\/host\/register\.ts$/,
    /^src\/shared\/http\/(?:raw-request|invocation|route)\.ts$/,
    /^src\/shared\/config\//,
    /^src\/shared\/networks\/(?:.*\/)?(?:settings|names)\.ts$/,
  ];
  expect(sources.filter((path) => !others.some((expected) => expected.test(path)))).toEqual([]);
});

/** Also one that is made of another: `query().extend(…)`. */
const SCHEMA_AT_THE_TOP = /^(?:export )?const \w+(?:: [^=]+)? =\s+(?:z\b|\w+\(\)\s*\.)/m;

test("no source makes a schema before it is asked for one", async () => {
  const files = globSync("src/**/*.ts");
  expect(files.length).toBeGreaterThan(SOURCES_MIN);
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  expect(files.filter((_file, index) => SCHEMA_AT_THE_TOP.test(texts[index] ?? ""))).toEqual([]);
});

test("a wrong setting of the app or of a network ends the start, and is named", async () => {
  const wrong = { ...settings, RATE_LIMIT_PER_MINUTE: "many", GRAPH_VERSION: "latest" };
  const started = starting.start(
    { entry: starting.appEntry, calls: [], notesModules: false },
    wrong,
  );
  await expect(started).rejects.toThrow(/RATE_LIMIT_PER_MINUTE(?:.|\n)*GRAPH_VERSION/);
});

test.each([
  ["image", /^(?:sharp|@img\/.*|image-size|mediabunny|libheif-js)$/],
  ["AT Protocol", /^@(?:atproto|atproto-labs)\//],
  ["OAuth and identity", /^(?:@azure\/(?:identity|msal-.*)|oauth4webapi|jsonwebtoken)$/],
  ["outgoing HTTP", /^undici/],
  ["password strength", /^(?:@zxcvbn-ts\/.*|fastest-levenshtein)$/],
  ["queue", /^@azure\/storage-(?:queue|common)$/],
])("no %s library is loaded to answer them", (_kind, library) => {
  expect(packages.filter((name) => library.test(name))).toEqual([]);
});

test("to answer them no network is loaded, nor what accepts or publishes a post", () => {
  const sources = sourcesOfParts(metafile, report.modules);
  expect(sources).toContain("src/shared/publishing/read/read-posts.ts");
  const others =
    /\/networks\/(?!contract\/)[^/]+\/(?!settings\.ts$)|\/(?:create-post|publish-legs?)\.ts$/;
  // What a leg's error and warnings say is written when a post is read.
  const sentences = "src/shared/networks/words/en.json";
  expect(sources.filter((path) => others.test(path) && path !== sentences)).toEqual([]);
});

test("no more packages are loaded at the start than bench/results.json says", async () => {
  const recorded = new Set((await readStart()).packagesAtStart);
  expect(packagesOf(startSize(metafile)).filter((name) => !recorded.has(name))).toEqual([]);
});

test("what is loaded at the start has not grown beyond what bench/results.json says", async () => {
  const { bytesAtStart } = await readStart();
  expect(startSize(metafile).bytes).toBeLessThanOrEqual(bytesAtStart * BYTES_TOLERATED);
});
