import type { GraphProblem } from "../graph/errors.ts";
import type { Container, InstagramShared } from "./state.ts";

const LIFE_MS = 24 * 3_600_000;

export const NOT_READY: GraphProblem = {
  message: "Media ID is not available",
  code: 9007,
  subcode: 2207027,
  userTitle: "Media not ready",
  userMessage: "The media is not ready to be published. Please wait a moment.",
};

export type ContainerState = "IN_PROGRESS" | "FINISHED" | "ERROR" | "EXPIRED" | "PUBLISHED";

/** Where a container is in its life; looking at it here does not bring it on. */
export function containerState(
  shared: Pick<InstagramShared, "now">,
  container: Container,
): ContainerState {
  if (container.mediaId !== null) return "PUBLISHED";
  if (container.createdAt + LIFE_MS <= shared.now()) return "EXPIRED";
  if (container.pollsLeft > 0) return "IN_PROGRESS";
  return container.errorSubcode === null ? "FINISHED" : "ERROR";
}

/** The sentence beside the state. */
export function statusText(state: ContainerState, container: Container): string {
  switch (state) {
    case "IN_PROGRESS":
      return "In Progress: Media is still being processed.";
    case "FINISHED":
      return "Finished: Media has been uploaded and it is ready to be published.";
    case "ERROR":
      return `Error: Media upload has failed with error code ${container.errorSubcode ?? 2207053}`;
    case "EXPIRED":
      return "Expired: Media was not published within 24 hours.";
    case "PUBLISHED":
      return "Published: Media has been successfully posted.";
  }
}
