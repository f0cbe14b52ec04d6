import { expect, inject, test } from "vitest";
import { withNextColumn } from "./breaking-builds.ts";
import { currentBuild, keptBuild } from "./builds.ts";
import { runSideBySide } from "./side-by-side.ts";

const POSTS = 8;

/** The short form of what `npm run check:long -- releases` runs, which shows what is noticed, too. */
test(
  "the kept build and the present one run side by side, then the kept one again, and no post is lost or doubled",
  { timeout: 240_000 },
  async () => {
    expect(inject("bundleError")).toBe("");
    const outcome = await runSideBySide({
      kept: await keptBuild(),
      next: withNextColumn(await currentBuild()),
      posts: POSTS,
      rounds: 1,
      connectionString: inject("azurite"),
    });
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
    expect(outcome.violations).toEqual([]);
    expect(outcome.posts).toBe(3 * POSTS);
    expect(outcome.legs).toBeGreaterThanOrEqual(outcome.posts);
    expect(outcome.deliveries).toBeGreaterThanOrEqual(outcome.posts);
  },
);
