import { expect, inject, test } from "vitest";
import { withNextColumn } from "./breaking-builds.ts";
import { currentBuild, keptRelease } from "./builds.ts";
import { runSideBySide } from "./side-by-side.ts";

const POSTS = 8;

/** The short form of what `npm run check:long -- releases` runs, which shows what is noticed, too. */
test(
  "0.3.0 and the present build run side by side, and 0.3.0 again, with no post lost or doubled",
  { timeout: 240_000 },
  async () => {
    expect(inject("bundleError")).toBe("");
    const outcome = await runSideBySide({
      kept: await keptRelease("0.3.0"),
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
