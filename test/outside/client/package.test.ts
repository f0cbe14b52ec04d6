import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { INSTALL_MS_MAX, installPackages } from "../../setup/install-packages.ts";
import { installClient, type InstalledClient } from "./installed-client.ts";

const run = promisify(execFile);
const TOOLS = new URL("./", import.meta.url);
const tool = (path: string) => fileURLToPath(new URL(`node_modules/${path}`, TOOLS));
const RUN_MS = 120_000;
/** What a project downloads for the client, its dependency and the API's types aside, the README included. */
const BYTES_MAX = 12 * 1024;
/** What it downloads for the types, which grow with the API. Those of 102 operations take 7.8 KB. */
const TYPES_BYTES_MAX = 9 * 1024;
const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  target: "es2022",
  module: "nodenext",
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  lib: ["es2022", "dom", "dom.iterable"],
  types: [],
};

let client: InstalledClient;
beforeAll(async () => {
  await installPackages(TOOLS);
  client = await installClient();
}, INSTALL_MS_MAX);
afterAll(() => client.remove());

/** Runs a program to its end; what it printed, where it failed. */
const failureOf = (script: string, ...args: string[]) =>
  run(process.execPath, [script, ...args], { cwd: client.folder, timeout: RUN_MS }).then(
    () => "",
    (error: { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`,
  );

test("is a package that npm and TypeScript read as it is meant", async () => {
  const publint = tool("publint/src/cli.js");
  expect(await failureOf(publint, "node_modules/publishing-relay-client", "--strict")).toBe("");
  // CommonJS gets it by `require` of an ES module, from Node 20.19 on.
  const attw = tool("@arethetypeswrong/cli/dist/index.js");
  expect(await failureOf(attw, client.tarball, "--profile", "esm-only")).toBe("");
});

test("shows its classes by their names, which loggers print", async () => {
  const program = `import * as all from "publishing-relay-client";
    for (const [name, one] of Object.entries(all))
      if (/^class/.test(String(one)) && one.name !== name) throw new Error(one.name);
    const { RelayError } = all;
    console.log(String(new RelayError(404, { code: "not_found", message: "No.", requestId: "req_1" })));`;
  await writeFile(join(client.folder, "names.js"), program);
  const { stdout } = await run(process.execPath, ["names.js"], { cwd: client.folder });
  expect(stdout).toBe("RelayError: not_found: No. (req_1)\n");
});

test("is small, and has one dependency", async () => {
  const folder = join(client.folder, "node_modules/publishing-relay-client");
  const types = gzipSync(await readFile(join(folder, "dist/made/api.d.ts")), { level: 9 });
  const { length } = await readFile(client.tarball);
  expect(length - types.length).toBeLessThanOrEqual(BYTES_MAX);
  expect(types.length).toBeLessThanOrEqual(TYPES_BYTES_MAX);
  const { dependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(Object.keys(dependencies)).toEqual(["openapi-fetch"]);
});

test("a program against its types compiles, and its mistakes do not", async () => {
  const compiler = fileURLToPath(
    new URL("../../../node_modules/@typescript/native/bin/tsc", import.meta.url),
  );
  const config = { compilerOptions: COMPILER_OPTIONS, files: ["customer.ts"] };
  await writeFile(join(client.folder, "tsconfig.json"), JSON.stringify(config));
  expect(await failureOf(compiler, "-p", ".")).toBe("");
});
