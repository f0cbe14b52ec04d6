import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/old-data/make/make.ts"],
    globalSetup: ["test/setup/global.ts"],
    testTimeout: 120_000,
  },
});
