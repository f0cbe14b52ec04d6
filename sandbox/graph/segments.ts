import type { TextSegment } from "../network.ts";

const LINKED =
  /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]|(?<![\w/&])#[\p{L}\p{M}\p{N}_]*[\p{L}_][\p{L}\p{M}\p{N}_]*/giu;

/** Text with its addresses and hashtags as links, as both of Meta's networks find them. */
export function linkedSegments(text: string, tagAddress: (tag: string) => string): TextSegment[] {
  const segments: TextSegment[] = [];
  let at = 0;
  for (const match of text.matchAll(LINKED)) {
    if (match.index > at) segments.push({ text: text.slice(at, match.index) });
    const [found] = match;
    const href = found.startsWith("#") ? tagAddress(encodeURIComponent(found.slice(1))) : found;
    segments.push({ text: found, href });
    at = match.index + found.length;
  }
  if (at < text.length) segments.push({ text: text.slice(at) });
  return segments;
}
