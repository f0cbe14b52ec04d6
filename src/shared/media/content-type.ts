interface Signature {
  readonly contentType: string;
  readonly offset: number;
  readonly text: string;
}

const at = (offset: number, text: string, contentType: string): Signature => ({
  contentType,
  offset,
  text,
});

/** File signatures; the first match counts, so the longer of two with the same start comes first. */
const SIGNATURES: readonly Signature[] = [
  at(0, "\xff\xd8\xff", "image/jpeg"),
  at(0, "\x89PNG\r\n\x1a\n", "image/png"),
  at(0, "GIF87a", "image/gif"),
  at(0, "GIF89a", "image/gif"),
  at(4, "ftypavif", "image/avif"),
  at(4, "ftypavis", "image/avif"),
  at(4, "ftypheic", "image/heic"),
  at(4, "ftypheix", "image/heic"),
  at(4, "ftypheim", "image/heic"),
  at(4, "ftypheis", "image/heic"),
  at(4, "ftyphevc", "image/heic"),
  at(4, "ftyphevx", "image/heic"),
  at(4, "ftypmif1", "image/heif"),
  at(4, "ftypmsf1", "image/heif"),
  at(4, "ftypqt  ", "video/quicktime"),
  at(4, "ftypM4A ", "audio/mp4"),
  at(4, "ftyp3gp", "video/3gpp"),
  at(4, "ftyp", "video/mp4"),
  at(4, "moov", "video/quicktime"),
  at(0, "\x1a\x45\xdf\xa3", "video/webm"),
  at(0, "\x00\x00\x01\xba", "video/mpeg"),
  at(0, "OggS", "audio/ogg"),
  at(0, "fLaC", "audio/flac"),
  at(0, "ID3", "audio/mpeg"),
  at(0, "\xff\xfb", "audio/mpeg"),
  at(0, "\xff\xf3", "audio/mpeg"),
  at(0, "\xff\xf1", "audio/aac"),
  at(0, "\xff\xf9", "audio/aac"),
  at(0, "BM", "image/bmp"),
  at(0, "II*\0", "image/tiff"),
  at(0, "MM\0*", "image/tiff"),
  at(0, "%PDF-", "application/pdf"),
];

/** Both containers hold files of other kinds too: which it is, the names within tell. */
const CONTAINERS: readonly { readonly head: string; readonly names: readonly Signature[] }[] = [
  {
    head: "PK\x03\x04",
    names: [
      at(0, "word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
      at(0, "ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ],
  },
  {
    head: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    names: [
      at(0, wide("WordDocument"), "application/msword"),
      at(0, wide("PowerPoint Document"), "application/vnd.ms-powerpoint"),
    ],
  },
];

/** Returns a text as the older of the two writes names. */
function wide(text: string): string {
  return Buffer.from(text, "utf16le").toString("latin1");
}

/** Returns the type of an office document by the first of the known names within. */
function officeType(head: string, bytes: Uint8Array): string | undefined {
  const container = CONTAINERS.find((known) => head.startsWith(known.head));
  if (container === undefined) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const found = container.names
    .map(({ text: name, contentType }) => ({ contentType, offset: text.indexOf(name) }))
    .filter(({ offset }) => offset >= 0)
    .toSorted((one, other) => one.offset - other.offset);
  return found[0]?.contentType;
}
const HEAD_BYTES = 64;
/** What is none of the types that are known. */
export const UNKNOWN_TYPE = "application/octet-stream";
/** Where the first box of an MP4 or a related format has its name. */
const BOX_NAME = 4;

/** Types of RIFF files, by the four letters after the length. */
const RIFF: Readonly<Record<string, string>> = {
  WEBP: "image/webp",
  WAVE: "audio/wav",
  "AVI ": "video/x-msvideo",
};

/** Lengths of bitmap headers: the two letters `BM` alone may begin any file. */
const BITMAP_HEADERS: readonly number[] = [12, 16, 40, 52, 56, 64, 108, 124];
const BITMAP_HEADER_AT = 14;

function isNoBitmap({ contentType }: Signature, head: Buffer): boolean {
  if (contentType !== "image/bmp") return false;
  const length = head.length >= BITMAP_HEADER_AT + 4 ? head.readUInt32LE(BITMAP_HEADER_AT) : 0;
  return !BITMAP_HEADERS.includes(length);
}

/** Returns the type of a file by its first bytes; the type that its server states is often wrong. */
export function contentTypeOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  const text = head.toString("latin1");
  if (text.startsWith("RIFF")) return RIFF[text.slice(8, 12)] ?? UNKNOWN_TYPE;
  const signature = SIGNATURES.find((known) => text.startsWith(known.text, known.offset));
  if (signature === undefined) return officeType(text, bytes) ?? UNKNOWN_TYPE;
  // A box begins with its length. That of the first box is below 16 MiB, which no text looks like.
  const isText = signature.offset === BOX_NAME && head[0] !== 0;
  return isText || isNoBitmap(signature, head) ? UNKNOWN_TYPE : signature.contentType;
}
