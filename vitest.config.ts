import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/{peers,contract/tools}/node_modules/**"],
    globalSetup: ["test/setup/global.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ["default", "./test/setup/closing-line.ts"],
    coverage: { include: ["src/**"] },
  },
});
