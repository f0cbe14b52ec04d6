import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { casesOf } from "../../setup/long-check.ts";

/** What a run over these test files prints last. The folder is inside the project, where `vitest` can be resolved. */
async function lastLine(files: Record<string, string>): Promise<string | undefined> {
  const folder = await mkdtemp(resolve("node_modules/.closing-line-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const child = spawn(
    process.execPath,
    [
      resolve("node_modules/vitest/vitest.mjs"),
      "run",
      "--root",
      folder,
      "--config",
      join(folder, "vitest.config.mjs"),
      "--reporter=default",
      `--reporter=${resolve("test/setup/closing-line.ts")}`,
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env["PATH"], NO_COLOR: "1" } },
  );
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, "close");
  return output.trimEnd().split("\n").at(-1);
}

const CONFIG = 'export default { test: { include: ["*.check.mjs"], exclude: [] } };';
const IMPORT = 'import { beforeAll, describe, expect, test } from "vitest";\n';

/** The first has every kind of end. */
const RUNS: readonly (readonly [line: string, files: Record<string, string>])[] = [
  [
    "1 passed, 4 failed, 2 skipped",
    {
      "a.check.mjs": `${IMPORT}test("a", () => {}); test("b", () => expect(1).toBe(2));
        test.skip("c", () => {});`,
      "b.check.mjs": 'import "./not-there.mjs";',
      "c.check.mjs": `${IMPORT}describe("s", () => { beforeAll(() => { throw new Error("x"); }); test("t", () => {}); });`,
      "d.check.mjs": 'throw new Error("y");',
    },
  ],
  ["1 passed, 0 failed", { "a.check.mjs": `${IMPORT}test("a", () => {});` }],
  [
    "1 passed, 1 failed, 2 skipped",
    {
      "a.check.mjs": `${IMPORT}test("a", () => {}); test("b", () => expect(1).toBe(2));
        test.skip("c", () => {}); test.todo("d");`,
    },
  ],
  [
    "1 passed, 3 failed, 1 skipped",
    {
      "a.check.mjs": `${IMPORT}test("a", () => {});`,
      "b.check.mjs": 'import "./not-there.mjs";',
      "c.check.mjs": `${IMPORT}describe("s", () => { beforeAll(() => { throw new Error("x"); }); test("t", () => {}); });`,
      "d.check.mjs": 'throw new Error("y");',
    },
  ],
  [
    "1 passed, 1 failed",
    {
      "a.check.mjs": `${IMPORT}test("a", async () => {
        void Promise.reject(new Error("unhandled"));
        await new Promise((resolve) => setImmediate(resolve));
      });`,
    },
  ],
];

test.each(casesOf(RUNS))("a run ends with the line %s", async (line, files) => {
  expect(await lastLine({ "vitest.config.mjs": CONFIG, ...files })).toBe(line);
});

test("a run whose set-up fails ends with a failure", async () => {
  const line = await lastLine({
    "vitest.config.mjs":
      'export default { test: { include: ["*.check.mjs"], exclude: [], globalSetup: ["./setup.mjs"] } };',
    "setup.mjs": 'export function setup() { throw new Error("no set-up"); }',
    "a.check.mjs": `${IMPORT}test("a", () => {});`,
  });
  expect(line).toMatch(/^0 passed, 1 failed/);
});
