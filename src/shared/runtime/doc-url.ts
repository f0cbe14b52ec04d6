interface CodedError {
  readonly code: string;
}

/** The section of the reference that describes a code, by the kind of code. Some codes are of both kinds. */
export const DOC_ANCHORS = {
  request: (code: string) => `error-${code}`,
  leg: (code: string) => `leg-error-${code}`,
} as const;

export function docUrl(baseUrl: string, kind: keyof typeof DOC_ANCHORS, code: string): string {
  return `${baseUrl}/docs#${DOC_ANCHORS[kind](code)}`;
}

/** Adds the URL of the code's paragraph in the reference to a leg's error or to a finding. */
export function withDocUrl<Found extends CodedError>(found: Found, baseUrl: string) {
  return { ...found, docUrl: docUrl(baseUrl, "leg", found.code) };
}
