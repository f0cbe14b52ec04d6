import { defineConfig } from "vitest/config";

/** Tests of the long check, which `npm test` leaves out. */
// oxlint-disable-next-line import/no-default-export -- vitest reads nothing else
export default defineConfig({
  test: {
    include: ["test/long/*.long.ts"],
    globalSetup: ["test/setup/global.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ["default"],
  },
});
