import * as z from "zod";
import { refuseIssues } from "./errors.ts";
import { exampleId, idPattern, type IdKind } from "./ids.ts";
import { shape } from "./shape.ts";

const METADATA_NAMES_MAX = 50;
const EXTERNAL_ID_MAX = 255;

const TIME = "must be a time with Z or an offset, such as 2030-01-31T09:00:00Z";

const timeWithOffset = (words: string) =>
  z.iso
    .datetime({
      offset: true,
      error: ({ input }) => (input === undefined ? `is missing and ${words}` : words),
    })
    .meta({ examples: ["2026-03-04T00:00:00Z"] })
    .transform((value) => new Date(value).toISOString());

/** A time in a request, with `Z` or an offset. It is stored as UTC. */
export const instant = shape(() => timeWithOffset(TIME));

/** A time in a query. A plus sign that is not encoded arrives as a space. */
export const instantFilter = shape(() =>
  timeWithOffset(`${TIME}; the plus of an offset is written as %2B`),
);

const DAY = "must be a UTC day, such as 2026-11-28";

/** A UTC day. It has a pattern and no format, because generated clients make times of days in a zone of their own. */
export const utcDay = shape(() =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, { error: DAY, abort: true })
    .refine((day) => !Number.isNaN(Date.parse(day)) && isoDay(new Date(day)) === day, DAY)
    .meta({ examples: ["2026-03-04"] }),
);

/** Returns the UTC day of a time. */
export const isoDay = (time: Date) => time.toISOString().slice(0, 10);

/** Refuses a range of a query, from `from` up to `to`, that is empty or reversed. */
export const withOrderedRange = <Fields extends z.ZodRawShape>(query: z.ZodObject<Fields>) =>
  query.refine((found) => isOrdered(found), {
    path: ["to"],
    error: 'must be later than "from"',
    // Also if another field is wrong.
    when: ({ value }) => typeof value === "object" && value !== null,
  });

function isOrdered(range: { readonly from?: unknown; readonly to?: unknown }): boolean {
  const [from, to] = [Date.parse(String(range.from)), Date.parse(String(range.to))];
  return !(from >= to);
}

/** The caller's own reference. Null and "" both mean that there is none. */
export const externalId = shape(() =>
  z
    .string()
    .max(EXTERNAL_ID_MAX)
    .nullable()
    .transform((text) => text || null)
    .describe('Your own reference, echoed and filterable; null and "" mean that there is none.'),
);

export const externalIdFilter = shape(() =>
  z
    .string()
    .min(1)
    .max(EXTERNAL_ID_MAX)
    .describe("Only those with this reference of yours.")
    .meta({ examples: ["customer-42"] }),
);

const PLUS = "write %2B for a plus sign, which a query reads as a space";

/** Refuses a space in a query's text that can't have one, such as an email, whose plus sign arrives as a space if not encoded. */
export const withoutSpace = (schema: z.ZodString) =>
  schema.regex(/^[^ ]*$/, `must have no space: ${PLUS}`);

/**
 * Refuses a filter that matched nothing and has a space, which was a plus sign more likely than not.
 * @throws AppError `validation_failed`
 */
export function refuseLostPlus(path: string, text: string | undefined, hasMatch: boolean): void {
  if (hasMatch || text?.includes(" ") !== true) return;
  const message = `matches nothing, and has a space: ${PLUS}`;
  refuseIssues([{ path, code: "custom", message }]);
}

/** The caller's own names and values. */
export const metadata = shape(() =>
  z
    .record(z.string().min(1).max(64), z.string().max(500))
    .refine((value) => Object.keys(value).length <= METADATA_NAMES_MAX, {
      error: `must have at most ${METADATA_NAMES_MAX} names`,
    })
    .meta({
      description: "Your own names and values, returned in answers and events.",
      maxProperties: METADATA_NAMES_MAX,
    }),
);

/** Makes a field of a PATCH that null clears. Null gives it the value that it would have if a POST left it out. */
export function clearable<Schema extends z.ZodType>(schema: Schema, empty: z.output<Schema>) {
  return schema
    .nullable()
    .transform((value): z.output<Schema> => value ?? empty)
    .optional();
}

export const time = shape(() => z.iso.datetime());

export function idOf(kind: IdKind): z.ZodString {
  return z
    .string()
    .regex(idPattern(kind))
    .meta({ examples: [exampleId(kind)] });
}

export const count = shape(() => z.int().min(0));
