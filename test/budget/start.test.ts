import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { buildApp } from "../../dev/build.ts";
import { packagesOf, startSize } from "../../bench/bundle.ts";
import { callOf, HEALTH_CALL } from "../../bench/first-calls.ts";
import { BENCH_PREFIX, openTenant, settingsOf, startRelay } from "../../bench/relay.ts";
import { readStart } from "../../bench/results.ts";
import { installedPackage, prepareStarting, type Starting } from "../../bench/starting.ts";
import { packagesOfParts } from "../../bench/bundle.ts";
import type { StartReport } from "../../bench/starter.ts";
import type { Metafile } from "esbuild";

/** Minified code of the same sources differs by little from one release of the bundler to the next. */
const BYTES_TOLERATED = 1.05;
const FUNCTIONS_MIN = 60;

let starting: Starting;
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
  ({ report } = await starting.start(order, settingsOf(storage, prefix)));
  const installed = report.modules.flatMap((url) => installedPackage(url) ?? []);
  packages = [...new Set([...packagesOfParts(metafile, report.modules), ...installed])];
}, 60_000);

afterAll(() => starting.stop());

test("the app registers its functions and answers /health and GET /v1/posts", () => {
  expect(report.functions).toBeGreaterThan(FUNCTIONS_MIN);
  expect(report.statuses).toEqual(["200", "200"]);
  expect(packages).toContain("@azure/data-tables");
});

test.each([
  ["image", /^(?:sharp|@img\/.*|image-size|mediabunny)$/],
  ["AT Protocol", /^@(?:atproto|atproto-labs)\//],
  ["OAuth and identity", /^(?:@azure\/(?:identity|msal-.*)|oauth4webapi|jsonwebtoken)$/],
  ["outgoing HTTP", /^undici/],
  ["queue", /^@azure\/storage-(?:queue|common)$/],
])("no %s library is loaded to answer them", (_kind, library) => {
  expect(packages.filter((name) => library.test(name))).toEqual([]);
});

test("no more packages are loaded at the start than bench/results.json says", async () => {
  const recorded = new Set((await readStart()).packagesAtStart);
  expect(packagesOf(startSize(metafile)).filter((name) => !recorded.has(name))).toEqual([]);
});

test("what is loaded at the start has not grown beyond what bench/results.json says", async () => {
  const { bytesAtStart } = await readStart();
  expect(startSize(metafile).bytes).toBeLessThanOrEqual(bytesAtStart * BYTES_TOLERATED);
});
