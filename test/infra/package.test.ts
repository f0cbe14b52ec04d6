import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(resolve(ROOT, path), "utf8");

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const { packages } = JSON.parse(read("package-lock.json")) as {
  packages: Readonly<Record<string, Locked>>;
};

/** What a Linux machine in Azure loads of these packages: themselves and all below them. */
function closureOf(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    const locked = packages[`node_modules/${name}`];
    const fits = (wanted: readonly string[] | undefined, own: string) =>
      wanted?.includes(own) ?? true;
    if (locked === undefined || found.has(name)) continue;
    if (!fits(locked.os, "linux") || !fits(locked.cpu, "x64") || !fits(locked.libc, "glibc"))
      continue;
    found.add(name);
    const { dependencies, optionalDependencies } = locked;
    closureOf(Object.keys({ ...dependencies, ...optionalDependencies }), found);
  }
  return found;
}

test("the package that is deployed has what the bundle loads beside itself, and no other package", () => {
  const installed = /INSTALLED = \[([^\]]*)\]/.exec(read("dev/build.ts"))?.[1] ?? "";
  const names = [...installed.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(names).toContain("sharp");
  // Types are read by nobody at run time.
  const needed = [...closureOf(names)].filter((name) => !name.startsWith("@types/"));
  expect(needed).toContain("@img/sharp-linux-x64");
  const lines = read(".funcignore").split("\n");
  expect(lines).toContain("node_modules/*");
  const kept = lines.flatMap((line) => /^!node_modules\/(.+)$/.exec(line)?.[1] ?? []);
  const isKept = (name: string) => kept.includes(name) || kept.includes(name.split("/")[0] ?? "");
  expect(needed.filter((name) => !isKept(name))).toEqual([]);
  const isNeeded = (entry: string) =>
    needed.some((name) => name === entry || name.startsWith(`${entry}/`));
  expect(kept.filter((entry) => !isNeeded(entry))).toEqual([]);
});
