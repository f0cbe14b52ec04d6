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

/**
 * Returns an id for a record that looks like its CIDv1: DAG-CBOR and SHA-256, but of its JSON, since no client checks it.
 * The order of fields counts.
 */
export function recordContentId(record: unknown): string {
  return contentId(DAG_CBOR, Buffer.from(JSON.stringify(record)));
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
