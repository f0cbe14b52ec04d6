import type { Services } from "../../services.ts";

/** When the sweeper first looks whether legs that were put on their way have moved on. */
export function firstCheckAt({ config }: Services, now: Date): string {
  return new Date(now.getTime() + config.publishing.workCheckSeconds * 1000).toISOString();
}
