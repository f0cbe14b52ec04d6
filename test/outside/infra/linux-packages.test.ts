import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const run = promisify(execFile);
const SCRIPT = resolve(import.meta.dirname, "../../../tools/linux-packages.ts");

/** npm's part in it: installs the optional packages of the folder's package.json, and notes what it was asked. */
const NPM = `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
appendFileSync(__dirname + "/calls.txt", process.argv.slice(2).join(" ") + "\\n");
const packages = {};
for (const [name, version] of Object.entries(JSON.parse(readFileSync("package.json")).optionalDependencies)) {
  mkdirSync("node_modules/" + name, { recursive: true });
  writeFileSync("node_modules/" + name + "/package.json", JSON.stringify({ version }));
  packages["node_modules/" + name] = { version, integrity: process.env.INTEGRITY };
}
writeFileSync("package-lock.json", JSON.stringify({ packages }));
`;

const GLIBC = "@img/sharp-linux-x64";
const LIBVIPS = "@img/sharp-libvips-linux-x64";
const OWN = "@img/sharp-darwin-arm64";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "linux-packages-test-"));
  await writeFile(join(folder, "npm"), NPM);
  await chmod(join(folder, "npm"), 0o755);
  const locked = (version: string) => ({ version, integrity: "sha512-right" });
  const packages = {
    [`node_modules/${GLIBC}`]: locked("1.2.3"),
    [`node_modules/${LIBVIPS}`]: locked("4.5.6"),
  };
  await writeFile(join(folder, "package-lock.json"), JSON.stringify({ packages }));
  await place(OWN, "1.2.3");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function place(name: string, version: string): Promise<void> {
  const path = join(folder, "node_modules", name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "package.json"), JSON.stringify({ version }));
}

const versionOf = async (name: string) => {
  const text = await readFile(join(folder, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
};

const calls = () => readFile(join(folder, "calls.txt"), "utf8").catch(() => "");

const addPackages = (integrity = "sha512-right") =>
  run(process.execPath, [SCRIPT], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env["PATH"] ?? ""}`, INTEGRITY: integrity },
  });

describe("what is packaged on any system", () => {
  test("what is packaged on any system has the Linux packages of the lock file beside the system's own", async () => {
    await addPackages();
    expect(await Promise.all([GLIBC, LIBVIPS, OWN].map(versionOf))).toEqual([
      "1.2.3",
      "4.5.6",
      "1.2.3",
    ]);
    expect(await calls()).toMatch(/--os=linux --cpu=x64 --libc=glibc/);
  });

  test("gets only what is missing or of another version", async () => {
    await place(GLIBC, "1.2.2");
    await place(LIBVIPS, "4.5.6");
    await addPackages();
    await addPackages();
    expect(await versionOf(GLIBC)).toBe("1.2.3");
    expect((await calls()).trim().split("\n")).toHaveLength(1);
  });

  test("takes no package but the one that the lock file names", async () => {
    await expect(addPackages("sha512-other")).rejects.toThrow("is not the one");
    await expect(versionOf(GLIBC)).rejects.toThrow("ENOENT");
  });
});

test("azd packages by one command on every system", async () => {
  const azure = await readFile(resolve(import.meta.dirname, "../../../azure.yaml"), "utf8");
  const hook = /prepackage:\n([\s\S]*?)\nhooks:/.exec(azure)?.[1] ?? "";
  expect([...hook.matchAll(/(posix|windows):\n\s+run: (.*)$/gm)].map((match) => match[2])).toEqual([
    "npm run package",
    "npm run package",
  ]);
});
