const SIGNATURES: readonly {
  readonly type: string;
  readonly offset: number;
  readonly bytes: string;
}[] = [
  { type: "image/jpeg", offset: 0, bytes: "ffd8ff" },
  { type: "image/png", offset: 0, bytes: "89504e470d0a1a0a" },
  { type: "image/gif", offset: 0, bytes: "47494638" },
  { type: "image/webp", offset: 8, bytes: "57454250" },
  { type: "image/avif", offset: 4, bytes: "6674797061766966" },
  { type: "video/mp4", offset: 4, bytes: "66747970" },
  { type: "video/webm", offset: 0, bytes: "1a45dfa3" },
];

/** What the bytes are, whatever the sender calls them; undefined when it is none of the media types that networks accept. */
export function sniffType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16));
  return SIGNATURES.find(({ offset, bytes: wanted }) => {
    return head.subarray(offset, offset + wanted.length / 2).toString("hex") === wanted;
  })?.type;
}
