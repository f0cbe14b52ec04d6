import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const ROOT = new URL("../../../", import.meta.url).pathname;
const NETWORKS = "src/shared/networks";
const DRILL_MS_MAX = 120_000;

let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "sixth-network-"));
  await cp(join(ROOT, "src"), join(copy, "src"), { recursive: true });
  for (const name of ["tsconfig.json", "package.json"])
    await cp(join(ROOT, name), join(copy, name));
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const file = join(copy, path);
  await writeFile(file, change(await readFile(file, "utf8")));
}

/** The toy as it would lie in the source tree. */
async function addFolder(): Promise<void> {
  const folder = join(NETWORKS, "pinboard");
  await cp(new URL("pinboard", import.meta.url).pathname, join(copy, folder), { recursive: true });
  for (const name of await readdir(join(copy, folder)))
    await edit(join(folder, name), (text) =>
      text
        .replaceAll("../../../../src/shared/networks/", "../")
        .replaceAll("../../../../src/shared/", "../../"),
    );
}

/** Only names of the registry have the type, the sixth one among them. */
const PROBE = `import type { NetworkName } from "./networks/networks.ts";
export const SIXTH: NetworkName = "pinboard";
// @ts-expect-error -- it has no line
export const SEVENTH: NetworkName = "corkboard";
`;

/** What the compiler says of the whole source. */
async function typeErrors(): Promise<string> {
  await writeFile(join(copy, "src/shared/probe.ts"), PROBE);
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  await edit("tsconfig.json", (text) =>
    text.replace(/"include": \[[^\]]*\]/, '"include": ["src"]'),
  );
  try {
    await run(process.execPath, [tsc, "--noEmit", "-p", join(copy, "tsconfig.json")]);
    return "";
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
  }
}

test(
  "a sixth network is a folder and a line in the registry: the rest of the source takes it as it is",
  { timeout: DRILL_MS_MAX },
  async () => {
    await addFolder();
    await edit(join(NETWORKS, "registry.ts"), (text) =>
      text
        .replace(/^/, 'import { pinboard } from "./pinboard/index.ts";\n')
        .replace("  mastodon,\n", "  mastodon,\n  pinboard,\n"),
    );
    expect(await typeErrors()).toBe("");
  },
);
