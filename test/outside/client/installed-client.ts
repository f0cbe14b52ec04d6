import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { inject } from "vitest";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../../..");
const CUSTOMER = join(import.meta.dirname, "customer.ts");

/** A project that has the client's package as npm packs it, and a program that uses it. */
export interface InstalledClient {
  readonly folder: string;
  /** The file that npm would publish. */
  readonly tarball: string;
  remove(): Promise<void>;
}

export async function installClient(): Promise<InstalledClient> {
  const failure = inject("clientError");
  if (failure !== "") throw new Error(failure);
  const folder = await mkdtemp(join(tmpdir(), "client-"));
  const packages = join(folder, "node_modules");
  const flags = ["--ignore-scripts", "--json", `--pack-destination=${folder}`];
  const { stdout } = await run("npm", ["pack", "--workspace=clients/typescript", ...flags], {
    cwd: ROOT,
  });
  const packed = JSON.parse(stdout) as Record<string, { filename: string }>;
  const [{ filename } = { filename: "" }] = Object.values(packed);
  const tarball = join(folder, filename);
  await mkdir(packages);
  await run("tar", ["-xzf", tarball, "-C", packages]);
  await rename(join(packages, "package"), join(packages, "publishing-relay-client"));
  for (const name of ["openapi-fetch", "openapi-typescript-helpers"])
    await cp(join(ROOT, "node_modules", name), join(packages, name), { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const source = await readFile(CUSTOMER, "utf8");
  await cp(CUSTOMER, join(folder, "customer.ts"));
  const { code } = await transform(source, { loader: "ts", format: "esm", target: "es2022" });
  await writeFile(join(folder, "customer.js"), code);
  return { folder, tarball, remove: () => rm(folder, { recursive: true, force: true }) };
}
