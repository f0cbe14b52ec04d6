import { test } from "vitest";
import { startOneMinute } from "./one-minute.ts";

/** The long check has fifty platforms. */
test(
  "200 posts of 4 platforms for one second fire in its minutes, none before, and each is visible once",
  { timeout: 180_000 },
  () => startOneMinute(4),
);
