import * as z from "zod";
import { AppError } from "./errors.ts";
import type { RotatingKeys } from "./rotating-keys.ts";
import { equalSecrets, hmacSha256, sha256Hex } from "./secrets.ts";
import { shape } from "./shape.ts";

/** One page of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  readonly limit: number;
  /** Fields of the answer next to the page. */
  readonly about?: Readonly<Record<string, unknown>>;
}

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 25;

export const pageQuery = shape(() => ({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `must be a whole number from 1 to ${LIMIT_MAX}`)
    .transform(Number)
    .pipe(z.int().min(1).max(LIMIT_MAX))
    .default(LIMIT_DEFAULT)
    .describe("How many at most."),
  cursor: z
    .string()
    .max(1_000)
    .optional()
    .describe("`page.nextCursor` of the previous page.")
    .meta({ examples: ["Zk9x1Q8Wb0T3aM5uR2cE7g"] }),
}));

/** Unknown fields are ignored, because a later build may add some. */
const Position = shape(() => z.object({ after: z.string(), query: z.string() }));
const TAG_LENGTH = 16;

/** Makes and reads cursors. A cursor is opaque and valid for one query only. */
export function createCursors({ current, previous }: RotatingKeys) {
  const tag = (text: string, key = current) => hmacSha256(key, text).subarray(0, TAG_LENGTH);
  const fingerprint = (query: unknown) => sha256Hex(JSON.stringify(query)).slice(0, 16);
  return {
    /**
     * Makes a cursor. `query` has everything that the list depends on (and the tenant), except `limit` and `cursor`.
     */
    make(after: string, query: unknown): string {
      const text = JSON.stringify({ after, query: fingerprint(query) });
      return Buffer.concat([tag(text), Buffer.from(text)]).toString("base64url");
    },
    /**
     * Returns the position after which to continue, or undefined for the first page. @throws AppError `invalid_cursor`
     */
    read(cursor: string | undefined, query: unknown): string | undefined {
      if (cursor === undefined) return undefined;
      const bytes = Buffer.from(cursor, "base64url");
      const text = bytes.subarray(TAG_LENGTH).toString();
      const isTaggedBy = (key: Uint8Array) =>
        equalSecrets(bytes.subarray(0, TAG_LENGTH), tag(text, key));
      const isOurs = isTaggedBy(current) || (previous !== undefined && isTaggedBy(previous));
      if (bytes.length <= TAG_LENGTH || !isOurs)
        throw new AppError("invalid_cursor", "The cursor was not issued here. Start without one.");
      const position = Position().parse(JSON.parse(text));
      if (position.query !== fingerprint(query))
        throw new AppError(
          "invalid_cursor",
          "The cursor belongs to another query. Start without one.",
        );
      return position.after;
    },
  };
}

export type Cursors = ReturnType<typeof createCursors>;

/** Makes a page from the items of a listing and the position where it stopped. */
export function toPage<Stored, T>(
  listed: { readonly items: readonly Stored[]; readonly next: string | undefined },
  limit: number,
  makeCursor: (next: string) => string,
  toItem: (stored: Stored) => T,
): Page<T> {
  const nextCursor = listed.next === undefined ? null : makeCursor(listed.next);
  return { items: listed.items.map(toItem), nextCursor, limit };
}
