import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findBicep } from "../../../infra/tools/bicep.ts";
import { checkInfra } from "../../../infra/tools/check-infra.ts";

const INFRA = resolve(import.meta.dirname, "../../../infra");

/** One text of a file of the templates, and what stands there instead. */
export type Break = readonly [path: string, from: string, to: string];

/** Returns what the check says of a copy of the templates that is broken so. */
export async function checkBroken(...breaks: readonly Break[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "broken-infra-"));
  try {
    await cp(INFRA, folder, { recursive: true });
    for (const [path, from, to] of breaks) {
      const text = await readFile(join(folder, path), "utf8");
      if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
      await writeFile(join(folder, path), text.replace(from, to));
    }
    return await checkInfra(folder, await findBicep());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
