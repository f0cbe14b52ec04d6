/**
 * Failures of the call that publishes the container. All others are refusals of the container: those of the later call
 * prove nothing, as `[refuse-after:<code>]` shows.
 */
const AT_PUBLICATION = ["network_unavailable", "connection_needs_reauth", "token_expired"];
const WORD = /\[(?:fail:([a-z_]+)|([a-z-]+\d*))(?::\d+)*\]/g;

function words(text: string, isWanted: (failure: string | undefined, kind: string) => boolean) {
  return [...text.matchAll(WORD)]
    .filter(([, failure, kind = ""]) => isWanted(failure, kind))
    .map(([word]) => word)
    .join(" ");
}

/** The magic words of a caption or alt text that are for the making of the container. */
export function creationWords(text: string): string {
  return words(text, (failure, kind) =>
    failure === undefined ? kind === "processing" : !AT_PUBLICATION.includes(failure),
  );
}

/** Those that are for `media_publish`, the call that is seen. */
export function publishWords(text: string): string {
  return words(text, (failure, kind) =>
    failure === undefined ? kind !== "processing" : AT_PUBLICATION.includes(failure),
  );
}
