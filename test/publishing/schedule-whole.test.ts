import { test } from "vitest";
import { startOneMinute } from "./one-minute.ts";

/** The long check has fifty platforms. */
test(
  "500 posts of 10 platforms for one second fire in its minutes, none before, and each is visible once",
  { timeout: 180_000 },
  () => startOneMinute(10),
);
