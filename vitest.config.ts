import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/setup/longest-first.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/{peers,contract/tools}/node_modules/**"],
    globalSetup: ["test/setup/global.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/setup/closing-line.ts"],
    coverage: { include: ["src/**"] },
  },
});
