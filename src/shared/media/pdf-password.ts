import { createCipheriv, createHash } from "node:crypto";
import type { ReadRange } from "./office-type.ts";
import { latin1, type PdfEnd } from "./pdf-end.ts";

/** Enough for a trailer and what it points at, which are usually close to each other. */
const TRAILER_BYTES = 65_536;
const DICTIONARY_BYTES = 4_096;
/** Rounds of the hash of PDF 2.0. It ends by itself after about 70. */
const ROUNDS_MAX = 512;
/** What fills up short passwords (ISO 32000-1, algorithm 2). The empty password is nothing else. */
const PADDING = Buffer.from(
  "28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a",
  "hex",
);

interface Encryption {
  readonly revision: number;
  readonly keyBytes: number;
  readonly owner: Buffer;
  readonly user: Buffer;
  readonly permissions: number;
  readonly hasPlainMetadata: boolean;
  readonly id: Buffer;
}

/**
 * Reports whether a PDF can't be opened without a password. Many encrypted ones can, since they only forbid printing or
 * changes. False if neither its end nor its last cross-reference section shows it.
 */
export async function pdfNeedsPassword(
  { size, start, text, lastSection }: PdfEnd,
  read: ReadRange,
): Promise<boolean> {
  const isElsewhere = lastSection !== undefined && lastSection < start;
  const section = isElsewhere
    ? latin1(await read(lastSection, Math.min(lastSection + TRAILER_BYTES, size) - 1))
    : "";
  const encryption = encryptionOf(section + text);
  return encryption !== undefined && !opensWithoutPassword(encryption);
}

const OBJECT = /(?<!\d)(\d{1,9})\s{1,9}(\d{1,5})\s{1,9}obj/g;

/** Returns where the dictionary of the encryption is, which is never compressed. */
function dictionaryAt(text: string): number {
  const [, number, generation] =
    /\/Encrypt\s{0,9}(\d{1,9})\s{1,9}(\d{1,5})\s{1,9}R/.exec(text) ?? [];
  if (number === undefined) return text.search(/\/Encrypt\s{0,9}<</);
  for (const found of text.matchAll(OBJECT))
    if (found[1] === number && found[2] === generation) return found.index;
  return -1;
}

const NUMBER = /\/(R|P|Length)\s{0,9}(-?\d{1,10})(?!\d)/g;

function encryptionOf(text: string): Encryption | undefined {
  const at = dictionaryAt(text);
  if (at < 0) return undefined;
  const dictionary = text.slice(at, at + DICTIONARY_BYTES);
  const numbers = new Map(
    [...dictionary.matchAll(NUMBER)].toReversed().map(([, name, value]) => [name, Number(value)]),
  );
  const revision = numbers.get("R") ?? 0;
  const owner = stringAfter(dictionary, /\/O\s{0,9}(?=[(<])/);
  const user = stringAfter(dictionary, /\/U\s{0,9}(?=[(<])/);
  const permissions = numbers.get("P");
  if (!/\/Filter\s{0,9}\/Standard\b/.test(dictionary)) return undefined;
  if (owner === undefined || user === undefined || permissions === undefined) return undefined;
  if (revision < 2 || revision > 6) return undefined;
  const keyBits = revision === 4 ? 128 : (numbers.get("Length") ?? 40);
  return {
    revision,
    keyBytes: revision === 2 ? 5 : Math.min(16, Math.max(5, keyBits >> 3)),
    owner,
    user,
    permissions,
    hasPlainMetadata: /\/EncryptMetadata\s{1,9}false/.test(dictionary),
    id: stringAfter(text, /\/ID\s{0,9}\[\s{0,9}(?=[(<])/) ?? Buffer.alloc(0),
  };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** Reads the string behind a pattern, in either notation (ISO 32000-1, 7.3.4). */
function stringAfter(text: string, before: RegExp): Buffer | undefined {
  const found = before.exec(text);
  if (found === null) return undefined;
  const rest = text.slice(found.index + found[0].length).slice(0, DICTIONARY_BYTES);
  if (rest.startsWith("<")) {
    const digits = rest.slice(1, rest.indexOf(">")).replaceAll(/[^0-9a-f]/gi, "");
    return Buffer.from(digits, "hex");
  }
  let depth = 0;
  let value = "";
  for (const [part, escaped] of rest.matchAll(/\\([0-7]{1,3}|\r\n|[^])|[^]/g)) {
    if (part === ")" && depth === 1) break;
    if (part === "(") depth += 1;
    if (part === ")") depth -= 1;
    if (part === "(" && depth === 1) continue;
    value += escaped === undefined ? part : unescaped(escaped);
  }
  return Buffer.from(value, "latin1");
}

function unescaped(escaped: string): string {
  if (/^[0-7]/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8) & 0xff);
  return /^[\r\n]/.test(escaped) ? "" : (ESCAPES[escaped] ?? escaped);
}

function opensWithoutPassword(encryption: Encryption): boolean {
  const { revision, user, id } = encryption;
  if (revision >= 5) {
    const salt = user.subarray(32, 40);
    const hash = revision === 5 ? digest("sha256", salt) : strongHash(salt);
    return hash.equals(user.subarray(0, 32));
  }
  const key = encryptionKey(encryption);
  if (revision === 2) return rc4(key, PADDING).equals(user.subarray(0, 32));
  let check = digest("md5", PADDING, id);
  for (let round = 0; round < 20; round += 1)
    check = rc4(
      key.map((byte) => byte ^ round),
      check,
    );
  return check.equals(user.subarray(0, 16));
}

function digest(name: string, ...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash(name);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Makes the key of the empty password (ISO 32000-1, algorithm 2). */
function encryptionKey(encryption: Encryption): Uint8Array {
  const { revision, keyBytes, owner, permissions, hasPlainMetadata, id } = encryption;
  const flags = Buffer.alloc(4);
  flags.writeInt32LE(permissions | 0);
  const unlike = revision >= 4 && hasPlainMetadata ? Buffer.alloc(4, 0xff) : Buffer.alloc(0);
  let key = digest("md5", PADDING, owner.subarray(0, 32), flags, id, unlike);
  if (revision >= 3)
    for (let round = 0; round < 50; round += 1) key = digest("md5", key.subarray(0, keyBytes));
  return key.subarray(0, keyBytes);
}

/** Hashes the empty password (ISO 32000-2, algorithm 2.B). */
function strongHash(salt: Uint8Array): Buffer {
  let key = digest("sha256", salt);
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const cipher = createCipheriv("aes-128-cbc", key.subarray(0, 16), key.subarray(16, 32));
    cipher.setAutoPadding(false);
    const block = cipher.update(Buffer.concat(Array.from({ length: 64 }, () => key)));
    const remainder = block.subarray(0, 16).reduce((sum, byte) => sum + byte, 0) % 3;
    key = digest(["sha256", "sha384", "sha512"][remainder] ?? "sha256", block);
    if (round >= 64 && (block.at(-1) ?? 0) <= round - 32) break;
  }
  return key.subarray(0, 32);
}

/** Applies the cipher of old PDFs, which the runtime's library leaves out by default. */
function rc4(key: Uint8Array, bytes: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_none, index) => index);
  const at = (index: number) => state[index & 0xff] ?? 0;
  const swap = (one: number, two: number) => {
    [state[one], state[two]] = [at(two), at(one)];
  };
  for (let index = 0, other = 0; index < 256; index += 1) {
    other = (other + at(index) + (key[index % key.length] ?? 0)) & 0xff;
    swap(index, other);
  }
  let other = 0;
  return Buffer.from(bytes).map((byte, position) => {
    const index = (position + 1) & 0xff;
    other = (other + at(index)) & 0xff;
    swap(index, other);
    return byte ^ at(at(index) + at(other));
  }) as Buffer;
}
