/** Failures that Instagram finds when the container is made; the rest is for the call that publishes it. */
const AT_CREATION = [
  "text_too_long",
  "text_invalid",
  "media_rejected",
  "media_unreachable",
  "media_processing_failed",
];
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
    failure === undefined ? kind === "processing" : AT_CREATION.includes(failure),
  );
}

/** Those that are for `media_publish`, the call that is seen. */
export function publishWords(text: string): string {
  return words(text, (failure, kind) =>
    failure === undefined ? kind !== "processing" : !AT_CREATION.includes(failure),
  );
}
