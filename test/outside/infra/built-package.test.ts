import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesSent } from "./staged-package.ts";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../../..");

/** What the bundle may weigh, reference and all: a twentieth more than it does. */
const BUNDLE_BYTES_MAX = 11_200_000;

const HAS_PACKAGES = existsSync(join(ROOT, "node_modules/@img/sharp-linux-x64"));

describe("a package built beside parts of an earlier build", () => {
  let folder: string;
  let built: string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "built-package-"));
    for (const name of ["src", "sandbox", "node_modules", "package.json", "tsconfig.json", "docs"])
      await symlink(join(ROOT, name), join(folder, name));
    await mkdir(join(folder, "dist/parts"), { recursive: true });
    for (const name of ["dist/parts/earlier-ABCDEFGH.js", "dist/earlier.js"])
      await writeFile(join(folder, name), "export const earlier = true;");
    await run(process.execPath, [join(ROOT, "tools/build.ts"), "--package"], { cwd: folder });
    built = (await readdir(join(folder, "dist"), { recursive: true })).toSorted();
  }, 120_000);
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  test("has the entries, the reference and parts, and nothing of the earlier build", async () => {
    const names = (await filesSent(folder)).flatMap((path) =>
      path.startsWith("dist/") ? [path.slice("dist/".length)] : [],
    );
    expect(names.filter((name) => !name.startsWith("parts"))).toEqual([
      "main.js",
      "password-worker.js",
      "reading-child.js",
      "reference.json",
    ]);
    expect(names).not.toContain("parts/earlier-ABCDEFGH.js");
    expect(names.length).toBeGreaterThan(50);
  });

  test("has no part that nothing loads", async () => {
    const files = built.filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(
      files.map((name) => readFile(join(folder, "dist", name), "utf8")),
    );
    const parts = files.filter((name) => name.startsWith("parts/"));
    const all = texts.join("\n");
    expect(parts.filter((part) => !all.includes(part.slice("parts/".length)))).toEqual([]);
  });

  test("sends no source map, and weighs no more than recorded", async () => {
    const sent = await filesSent(folder);
    const bundle = sent.filter((path) => path.startsWith("dist/"));
    expect(sent.filter((path) => path.endsWith(".map"))).toEqual([]);
    expect(built.filter((name) => name.endsWith(".map")).length).toBeGreaterThan(50);
    const sizes = await Promise.all(
      bundle.map(async (path) => (await stat(join(folder, path))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BUNDLE_BYTES_MAX);
  });

  test("reads a stack with the maps that stay beside it", async () => {
    const words = "holds more than one";
    const part = built.find((name) => /^parts\/.*\.js$/.test(name)) ?? "";
    const code = await readFile(join(folder, "dist", part), "utf8");
    const at = code.lastIndexOf("export");
    const line = code.slice(0, at).split("\n").length;
    const column = at - code.lastIndexOf("\n", at - 1);
    const place = `/home/site/wwwroot/dist/${part}:${line}:${column}`;
    const child = run(process.execPath, [join(ROOT, "tools/read-stack.ts")], { cwd: folder });
    child.child.stdin?.end(`Error: ${words}\n    at something (file://${place})\n`);
    const { stdout } = await child;
    expect(stdout).toMatch(/^Error: .*\n {4}at something \(\S+\.[tj]s:\d+:\d+\)\n$/);
    expect(stdout).not.toContain("wwwroot");
  });
});

/** Sizes of what is sent in all, in bytes: `sharp` with libvips is most of it. */
const SENT_BYTES_MAX = 34_000_000;

test.runIf(HAS_PACKAGES)("weighs no more than recorded with its installed packages", async () => {
  const sent = (await filesSent()).filter((path) => path.startsWith("node_modules/"));
  const sizes = await Promise.all(sent.map(async (path) => (await stat(join(ROOT, path))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(SENT_BYTES_MAX);
});
