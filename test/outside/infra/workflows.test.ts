import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const FOLDER = resolve(import.meta.dirname, "../../../.github/workflows");
const used = readdirSync(FOLDER).flatMap((name) =>
  [...readFileSync(resolve(FOLDER, name), "utf8").matchAll(/uses: *(.+)$/gm)].map(
    ([, action = ""]) => `${name}: ${action}`,
  ),
);

test("the workflows run actions of one commit, which nobody can move, and name its version", () => {
  expect(used.length).toBeGreaterThan(0);
  for (const action of used)
    expect(action).toMatch(/: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
