import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/setup/longest-first.ts";

/**
 * Tests in a process of their own for each file: they start programs, put a module or the time in another's place, or
 * measure what a process holds and loads. All others follow each other in few processes, for to start one and to load
 * the packages takes most files longer than their tests.
 */
const APART = [
  "test/{budget,media,model/simulation,process}/**/*.test.ts",
  "test/outside/{browser,client,examples,peers}/**/*.test.ts",
  "test/http/reference/openapi.test.ts",
  "test/docs/executed.test.ts",
  "test/partition/group-commit.test.ts",
  "test/http/access/operators.test.ts",
  "test/tools/host/{azurite,bundle,http,lifecycle,queue,timer}.test.ts",
  "test/outside/infra/{identity,linux-packages,vault-secrets}.test.ts",
  "test/limits/{instances,shared-window,whole}.test.ts",
  "test/networks/sixth/*.test.ts",
  "test/text/{far-too-long,growth}.test.ts",
  "test/webhooks/{addresses,load,snippets}.test.ts",
];
/** More than cores, since many of these files wait for what they started. With five, a run takes a sixth longer. */
const WORKERS = 4;
/** Bounds for what has stopped: a slow machine is no failure. */
const common = {
  testTimeout: 100_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  maxWorkers: WORKERS,
};
const NEVER = "test/**/node_modules/**";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "apart", include: APART, exclude: [NEVER], ...common } },
      {
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [NEVER, ...APART],
          isolate: false,
          setupFiles: ["test/setup/fresh-time.ts"],
          ...common,
        },
      },
    ],
    globalSetup: ["test/setup/global.ts"],
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/setup/closing-line.ts"],
    coverage: { include: ["src/**"] },
  },
});
