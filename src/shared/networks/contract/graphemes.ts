let segmenter: Intl.Segmenter | undefined;

/** What a reader takes for one character each. The segmenter is made when it is first needed: that takes milliseconds. */
export function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}
