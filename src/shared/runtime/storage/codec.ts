import { isRecord } from "../is-record.ts";
import * as z from "zod";
import { invariant } from "../errors.ts";
import { shape } from "../shape.ts";
import { DamagedRow, NewerRow } from "./damaged-row.ts";
import { fromChunks, toChunks, type Columns, type Row, type RowValue } from "./row.ts";

/** The kind of values in a column, for tests that generate rows. */
export type ColumnForm =
  | { readonly kind: "text" | "text_or_null" | "long_text" }
  | { readonly kind: "integer" | "integer_or_null" | "truth" }
  | { readonly kind: "one_of"; readonly values: readonly string[] }
  | {
      readonly kind: "json" | "json_or_null" | "long_json" | "long_json_or_null";
      readonly schema: Form<unknown>;
    };

/**
 * The form of the rows that this build writes, in their column `v`. A later build that gives a row another meaning
 * names the feature in the column `needs` (separated by commas). A build without it leaves the row alone.
 */
const ROW_FORM = 1;
/** The features that this build knows. A row names those that it needs in `needs`. */
const FEATURES: ReadonlySet<string> = new Set();

/** Who reads a row. People also see values of a later build. Workers must know every value that they act on. */
export type Reader = "people" | "work";

/** How a value is stored in a property. */
export interface Column<Value> {
  readonly form: ColumnForm;
  write(into: Record<string, RowValue>, name: string, value: Value): void;
  /** Reads the value from a row. @throws Misfit when the row has no such value */
  read(row: Row, name: string, reader: Reader): Value;
}

/** What is wrong with a column. */
class Misfit extends Error {}

/** A value that a later build has written. */
class NewerValue extends Misfit {}

type ColumnValue<Of> = Of extends Column<infer Value> ? Value : never;
type DeclaredColumns = Readonly<Record<string, Column<unknown>>>;
type RowOf<Of extends DeclaredColumns> = { readonly [Name in keyof Of]: ColumnValue<Of[Name]> };

/** A kind of row: its columns, and how they are written and read. The store makes the row key. */
export interface RowCodec<Value> {
  readonly kind: string;
  readonly columns: DeclaredColumns;
  encode(value: Value): Columns;
  /** Encodes only the fields that are given, for a merge. Long columns can't be merged. */
  encodePart(value: { readonly [Name in keyof Value]?: Value[Name] | undefined }): Columns;
  /**
   * Decodes a row for workers, unless another reader is named. @throws DamagedRow when a required column is missing or
   * a column has an invalid value @throws NewerRow when a later build has written what this one doesn't know
   */
  decode(row: Row, reader?: Reader): Value;
}

function present(row: Row, name: string): RowValue {
  const value = row[name];
  if (value === undefined) throw new Misfit("is missing");
  return value;
}

function columnText(row: Row, name: string): string {
  const value = present(row, name);
  if (typeof value !== "string") throw new Misfit("is no text");
  return value;
}

function integerIn(row: Row, name: string): number {
  const value = present(row, name);
  if (typeof value !== "number" || !Number.isInteger(value)) throw new Misfit("is no whole number");
  return value;
}

function parsedJson<Value>(text: string, schema: Form<Value>): Value {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Misfit("is no JSON");
  }
  const result = schema().safeParse(value);
  if (!result.success) throw new Misfit("has another form");
  return result.data;
}

const short = (into: Record<string, RowValue>, name: string, value: RowValue) => {
  into[name] = value;
};
const long = (into: Record<string, RowValue>, name: string, value: string) => {
  Object.assign(into, toChunks(name, value));
};

/** Declares text that may be empty. */
export const text = <Value extends string = string>(): Column<Value> => ({
  form: { kind: "text" },
  write: short,
  // Safe: the same column has written it from this type.
  read: (row, name) => columnText(row, name) as Value,
});

/** Declares text or null. Null is stored as "", because rows have no nulls. */
export const textOrNull = <Value extends string = string>(): Column<Value | null> => ({
  form: { kind: "text_or_null" },
  write: (into, name, value) => short(into, name, value ?? ""),
  // Safe: the same column has written it from this type.
  read: (row, name) => (columnText(row, name) || null) as Value | null,
});

/** Declares one of these texts. A text of a later build is shown to people unchanged. */
export const oneOf = <const Value extends string>(values: readonly Value[]): Column<Value> => ({
  form: { kind: "one_of", values },
  write: short,
  read(row, name, reader) {
    const stored = columnText(row, name);
    const value = values.find((known) => known === stored);
    if (value !== undefined) return value;
    if (reader === "work") throw new NewerValue("has a value of a later build");
    // Safe: the value of a later build is only shown to people. No decision depends on it.
    return stored as Value;
  },
});

export const integer = (): Column<number> => ({
  form: { kind: "integer" },
  write: short,
  read: integerIn,
});

/** Declares a number that is never negative, or null, which is stored as -1. */
export const integerOrNull = (): Column<number | null> => ({
  form: { kind: "integer_or_null" },
  write: (into, name, value) => short(into, name, value ?? -1),
  read(row, name) {
    const value = integerIn(row, name);
    return value === -1 ? null : value;
  },
});

export const truth = (): Column<boolean> => ({
  form: { kind: "truth" },
  write: short,
  read(row, name) {
    const value = present(row, name);
    if (typeof value !== "boolean") throw new Misfit("is neither true nor false");
    return value;
  },
});

/**
 * The schema of stored JSON. A later build may have added fields or values, so objects keep fields that the schema
 * doesn't name, and names are any text. It has a default only for what this build leaves out when it writes, and for a
 * field that was added after a release. `test/runtime/storage/codecs.test.ts` has the list.
 */
export type Form<Value> = () => z.ZodType<Value>;

/** Returns the form of a list of names. It accepts the names of later builds. */
export const namesForm = <Name extends string>(): Form<readonly Name[]> =>
  // Safe as in `text`: a name that this build doesn't know is shown unchanged.
  shape(() => z.array(z.string()) as unknown as z.ZodType<readonly Name[]>);

/** The form of an object that only the caller interprets, kept as it is: zod's record would drop `__proto__`. */
export const fieldsForm = shape(() => z.custom<Readonly<Record<string, unknown>>>(isRecord));

/** The form of a customer's own names and values. */
export const metadataForm = shape(() =>
  z.custom<Readonly<Record<string, string>>>(
    (value) => isRecord(value) && Object.values(value).every((one) => typeof one === "string"),
  ),
);

export const json = <Value>(schema: Form<Value>): Column<Value> => ({
  form: { kind: "json", schema },
  write: (into, name, value) => short(into, name, JSON.stringify(value)),
  read: (row, name) => parsedJson(columnText(row, name), schema),
});

/** Declares JSON or null, which is stored as "". */
export const jsonOrNull = <Value>(schema: Form<Value>): Column<Value | null> => ({
  form: { kind: "json_or_null", schema },
  write: (into, name, value) => short(into, name, value === null ? "" : JSON.stringify(value)),
  read(row, name) {
    const stored = columnText(row, name);
    return stored === "" ? null : parsedJson(stored, schema);
  },
});

function longTextIn(row: Row, name: string): string {
  columnText(row, `${name}0`);
  return fromChunks(name, row);
}

/** Declares text that is split over the properties `<name>0`, `<name>1` and so on. */
export const longText = (): Column<string> => ({
  form: { kind: "long_text" },
  write: long,
  read: longTextIn,
});

export const longJson = <Value>(schema: Form<Value>): Column<Value> => ({
  form: { kind: "long_json", schema },
  write: (into, name, value) => long(into, name, JSON.stringify(value)),
  read: (row, name) => parsedJson(longTextIn(row, name), schema),
});

export const longJsonOrNull = <Value>(schema: Form<Value>): Column<Value | null> => ({
  form: { kind: "long_json_or_null", schema },
  write: (into, name, value) => long(into, name, value === null ? "" : JSON.stringify(value)),
  read(row, name) {
    const stored = longTextIn(row, name);
    return stored === "" ? null : parsedJson(stored, schema);
  },
});

export function rowCodec<const Of extends DeclaredColumns>(
  kind: string,
  columns: Of,
): RowCodec<RowOf<Of>> {
  const entries = Object.entries(columns);
  return {
    kind,
    columns,
    encode(value) {
      const into: Record<string, RowValue> = { v: ROW_FORM };
      for (const [name, column] of entries) column.write(into, name, value[name]);
      return into;
    },
    encodePart(value) {
      const into: Record<string, RowValue> = {};
      for (const [name, column] of entries) {
        const given = value[name];
        if (given === undefined) continue;
        invariant(!column.form.kind.startsWith("long"), `${name} can't be merged`);
        column.write(into, name, given);
      }
      return into;
    },
    decode(row, reader = "work") {
      const { needs, rowKey } = row;
      if (needs !== undefined) {
        const features = String(needs).split(",");
        if (features.some((name) => name !== "" && !FEATURES.has(name)))
          throw new NewerRow({
            kind,
            rowKey,
            column: "needs",
            reason: "names what this build lacks",
          });
      }
      const value: Record<string, unknown> = {};
      for (const [name, column] of entries) {
        try {
          value[name] = column.read(row, name, reader);
        } catch (error) {
          if (!(error instanceof Misfit)) throw error;
          const damage = { kind, rowKey, column: name, reason: error.message };
          throw error instanceof NewerValue ? new NewerRow(damage) : new DamagedRow(damage);
        }
      }
      // Safe: every declared column was read with its own type.
      return value as RowOf<Of>;
    },
  };
}
