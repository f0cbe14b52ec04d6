import { expect, inject, test } from "vitest";
import { BREACHES, withNextColumn } from "../process/releases/breaking-builds.ts";
import { currentBuild, keptBuild, patched } from "../process/releases/builds.ts";
import { runSideBySide } from "../process/releases/side-by-side.ts";

const POSTS = 120;

test(
  "up and back twice under load, no post is lost or doubled and every call is answered",
  { timeout: 900_000 },
  async () => {
    const outcome = await runSideBySide({
      kept: await keptBuild(),
      next: withNextColumn(await currentBuild()),
      posts: POSTS,
      rounds: 2,
      isCrowded: true,
      connectionString: inject("azurite"),
    });
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
    expect(outcome.violations).toEqual([]);
    expect(outcome.posts).toBe(6 * POSTS);
  },
);

test.each(BREACHES)(
  "a build that $name is noticed",
  { timeout: 300_000 },
  async ({ of, patches, noticed }) => {
    const [kept, next] = [await keptBuild(), withNextColumn(await currentBuild())];
    const outcome = await runSideBySide({
      kept: of === "kept" ? patched(kept, patches) : kept,
      next: of === "next" ? patched(next, patches) : next,
      posts: 8,
      rounds: 1,
      restMs: 20_000,
      connectionString: inject("azurite"),
    });
    process.stdout.write(`${JSON.stringify(outcome.violations.slice(0, 5))}\n`);
    expect(outcome.violations.join("\n")).toMatch(noticed);
  },
);
