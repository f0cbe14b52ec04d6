import type { ErrorRow } from "./classified.ts";

/** What an answer says of its reason, read out of the network's own envelope. */
export interface Signal {
  readonly status: number;
  readonly code?: string | number | undefined;
  readonly subcode?: number | undefined;
  /** Of the request, where the answer names one. */
  readonly field?: string | undefined;
  readonly isTransient?: boolean | undefined;
  readonly message: string;
}

/** Far more than any network says; a federated server may say anything, and a pattern of two words is quadratic. */
const MESSAGE_CHARACTERS_MAX = 2000;

/** Everything that is given has to fit. */
interface SignalPattern {
  readonly status?: number;
  readonly code?: string | number;
  /** Codes from the one to the other. */
  readonly codes?: readonly [number, number];
  readonly subcode?: number;
  readonly field?: RegExp;
  readonly isTransient?: true;
  readonly message?: RegExp;
}

export interface TableRow extends ErrorRow {
  readonly signal: SignalPattern;
}
/** In the order of `rank`. */
export type ErrorTable = readonly TableRow[];

/**
 * A code and its subcode together say more than a subcode, that more than a code, and a status says least. Words come
 * after the structured field that they explain: sentences are reworded and translated.
 */
function rank({ code, codes, subcode, field, isTransient, message }: SignalPattern): number {
  const hasWords = field !== undefined || message !== undefined;
  if (subcode !== undefined) return code === undefined ? 1 : 0;
  if (code !== undefined) return hasWords ? 2 : 3;
  if (codes !== undefined) return 4;
  if (isTransient) return 5;
  return hasWords ? 6 : 7;
}

/** Rows of the same rank keep their order: the first that fits wins. */
export function errorTable(...parts: readonly (readonly TableRow[])[]): ErrorTable {
  return parts.flat().toSorted((one, other) => rank(one.signal) - rank(other.signal));
}

function fits(pattern: SignalPattern, signal: Signal): boolean {
  const { codes, field, message } = pattern;
  const number = typeof signal.code === "number" ? signal.code : Number.NaN;
  const isEqual = (["status", "code", "subcode", "isTransient"] as const).every(
    (name) => pattern[name] === undefined || pattern[name] === signal[name],
  );
  return (
    isEqual &&
    (codes === undefined || (number >= codes[0] && number <= codes[1])) &&
    (field === undefined || field.test((signal.field ?? "").slice(0, MESSAGE_CHARACTERS_MAX))) &&
    (message === undefined || message.test(signal.message.slice(0, MESSAGE_CHARACTERS_MAX)))
  );
}

export function findRow(table: ErrorTable, signal: Signal): TableRow | undefined {
  return table.find(({ signal: pattern }) => fits(pattern, signal));
}

/**
 * What a signal means. A refusal that the table doesn't know is taken for a permanent one and marked for us to look at:
 * repeating what was refused for a reason unknown helps nobody. Whatever is no refusal proves nothing: `doubt`.
 */
export function rowOf(table: ErrorTable, signal: Signal, doubt: ErrorRow): ErrorRow {
  const found = findRow(table, signal);
  if (found !== undefined) return withoutSignal(found);
  const { status } = signal;
  return status >= 400 && status < 500
    ? { code: "invalid_request", effect: "refuse", unmappedStatus: status }
    : doubt;
}

function withoutSignal({ signal: _matched, ...meaning }: TableRow): ErrorRow {
  return meaning;
}

/** The same meaning for several signals. */
export function rows(meaning: ErrorRow, ...signals: readonly SignalPattern[]): TableRow[] {
  return signals.map((signal) => ({ signal, ...meaning }));
}

/** The same meaning for several subcodes, whatever code they come with. */
export function subcodes(meaning: ErrorRow, ...numbers: readonly number[]): TableRow[] {
  return numbers.map((subcode) => ({ signal: { subcode }, ...meaning }));
}

/** The same meaning for several codes. */
export function codes(meaning: ErrorRow, ...list: readonly (string | number)[]): TableRow[] {
  return list.map((code) => ({ signal: { code }, ...meaning }));
}
