import { test } from "vitest";
import { startOneMinute } from "../publishing/one-minute.ts";

test(
  "2,500 posts of 50 platforms for one second fire in its minutes, none before, and each is visible once",
  { timeout: 600_000 },
  () => startOneMinute(50),
);
