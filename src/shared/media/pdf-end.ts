import type { ReadRange } from "./office-type.ts";

const END_BYTES = 65_536;

/** The end of a PDF, which names the place of its last cross-reference section (ISO 32000-1, 7.5.5). */
export interface PdfEnd {
  readonly size: number;
  /** Where the end begins in the file. */
  readonly start: number;
  readonly text: string;
  /** Where the section begins; undefined if the end doesn't say so. */
  readonly lastSection: number | undefined;
}

export async function readPdfEnd(size: number, read: ReadRange): Promise<PdfEnd> {
  const start = Math.max(0, size - END_BYTES);
  const text = latin1(await read(start, size - 1));
  const [, at] = /startxref\s+(\d{1,15})\s/.exec(text.slice(text.lastIndexOf("startxref"))) ?? [];
  return { size, start, text, lastSection: at === undefined ? undefined : Number(at) };
}

/** Returns bytes as text, of which each character is one byte. */
export const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
