import { createHash } from "node:crypto";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const TID_DIGITS = "234567abcdefghijklmnopqrstuvwxyz";
const DAG_CBOR = 0x71;
const RAW = 0x55;
const CONTENT_ID = /^b[a-z2-7]{58}$/;

function base32(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(held >>> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31];
}

function unbase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const character of text) {
    const digit = BASE32.indexOf(character);
    if (digit < 0) throw new RangeError("not base32");
    held = (held << 5) | digit;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >>> bits) & 255);
      held &= (1 << bits) - 1;
    }
  }
  return Uint8Array.from(bytes);
}

function contentId(codec: number, bytes: Uint8Array): string {
  const digest = createHash("sha256").update(bytes).digest();
  return `b${base32(Buffer.concat([Buffer.from([1, codec, 0x12, digest.length]), digest]))}`;
}

export function isContentId(text: string): boolean {
  return CONTENT_ID.test(text);
}

/** CIDv1 of a file: raw codec, SHA-256. */
export function blobContentId(bytes: Uint8Array): string {
  return contentId(RAW, bytes);
}

/** CIDv1 of a record: SHA-256 over its canonical DAG-CBOR. Throws `RangeError` for a value the data model lacks. */
export function recordContentId(record: unknown): string {
  return contentId(DAG_CBOR, dagCbor(record));
}

function cborHead(major: number, length: number): Buffer {
  const kind = major << 5;
  if (length < 24) return Buffer.from([kind | length]);
  if (length < 0x100) return Buffer.from([kind | 24, length]);
  const head = Buffer.alloc(length < 0x10000 ? 3 : length < 0x100000000 ? 5 : 9);
  if (head.length === 3) head.writeUInt16BE(length, 1);
  else if (head.length === 5) head.writeUInt32BE(length, 1);
  else head.writeBigUInt64BE(BigInt(length), 1);
  head[0] = kind | (head.length === 3 ? 25 : head.length === 5 ? 26 : 27);
  return head;
}

function cborBytes(major: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([cborHead(major, bytes.length), bytes]);
}

function cborNumber(value: number): Buffer {
  if (!Number.isSafeInteger(value)) throw new RangeError("only safe integers can be stored");
  return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
}

function cborMap(value: object): Buffer {
  const link: unknown = Reflect.get(value, "$link");
  if (typeof link === "string" && Object.keys(value).length === 1) {
    if (!CONTENT_ID.test(link)) throw new RangeError(`not a CID: ${link.slice(0, 80)}`);
    const id = Buffer.concat([Buffer.from([0]), unbase32(link.slice(1))]);
    return Buffer.concat([cborHead(6, 42), cborBytes(2, id)]);
  }
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => ({ key: Buffer.from(key), item: item as unknown }))
    // DAG-CBOR orders keys by length first, then by bytes.
    .sort((a, b) => a.key.length - b.key.length || Buffer.compare(a.key, b.key));
  const parts = entries.flatMap(({ key, item }) => [cborBytes(3, key), dagCbor(item)]);
  return Buffer.concat([cborHead(5, entries.length), ...parts]);
}

function dagCbor(value: unknown): Buffer {
  if (value === null) return Buffer.from([0xf6]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === "number") return cborNumber(value);
  if (typeof value === "string") return cborBytes(3, Buffer.from(value));
  if (Array.isArray(value))
    return Buffer.concat([cborHead(4, value.length), ...value.map((item) => dagCbor(item))]);
  if (typeof value === "object") return cborMap(value);
  throw new RangeError(`a ${typeof value} can't be stored`);
}

const TID_FORM = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/;

export function isTid(text: string): boolean {
  return TID_FORM.test(text);
}

/** A timestamp identifier: 53 bits of microseconds, then 10 bits of clock id. */
export function tid(microseconds: bigint, clockId: number): string {
  let rest = (microseconds << 10n) | BigInt(clockId & 1023);
  let text = "";
  for (let index = 0; index < 13; index += 1) {
    text = TID_DIGITS[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
}
