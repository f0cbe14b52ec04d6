import type { PublishingDeps } from "../deps.ts";

/** When the sweeper first looks whether legs that were put on their way have moved on. */
export function firstCheckAt({ config }: PublishingDeps, now: Date): string {
  return new Date(now.getTime() + config.publishing.workCheckSeconds * 1000).toISOString();
}
