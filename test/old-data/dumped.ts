import { readFileSync } from "node:fs";
import { join } from "node:path";

export const FOLDER = import.meta.dirname;

/** What a column holds; of a type that JSON does not know, the type and its value. */
type DumpedValue = string | number | boolean | { readonly type: string; readonly value: string };

export interface DumpedRow {
  readonly table: string;
  readonly partitionKey: string;
  readonly rowKey: string;
  readonly columns: Readonly<Record<string, DumpedValue>>;
}

export interface DumpedMessage {
  readonly queue: string;
  /** From when on it is seen. */
  readonly visibleAt: string;
  /** JSON, which the queue holds in base64. */
  readonly text: string;
}

/** What was never stored, or only as a hash; ids and secrets by the name of what they are for. */
interface Known {
  /** The clock of whoever wrote the dump. */
  readonly now: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly platforms: Readonly<Record<string, string>>;
  readonly applications: Readonly<Record<string, string>>;
  readonly profiles: Readonly<Record<string, string>>;
  readonly users: Readonly<Record<string, KnownUser>>;
  readonly sessions: Readonly<Record<string, string>>;
  readonly keys: Readonly<Record<string, { readonly id: string; readonly secret: string }>>;
  readonly grants: Readonly<Record<string, string>>;
  readonly posts: Readonly<Record<string, KnownPost>>;
  readonly webhooks: Readonly<Record<string, KnownEndpoint>>;
  readonly connectSessions: Readonly<Record<string, KnownConnectSession>>;
}

interface KnownUser {
  readonly email: string;
  readonly password: string;
  readonly formerPassword?: string;
  readonly totpSecret?: string;
  readonly usedRecoveryCode?: string;
  readonly recoveryCodes?: readonly string[];
}

export interface KnownPost {
  readonly id: string;
  readonly profileId: string;
  readonly idempotencyKey: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface KnownEndpoint {
  readonly id: string;
  readonly path: string;
  readonly secrets: readonly string[];
}

interface KnownConnectSession {
  readonly id: string;
  readonly url: string;
  readonly cookie?: string;
  readonly callback?: string;
}

const linesOf = (file: string): unknown[] =>
  readFileSync(join(FOLDER, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

export function dumpedRows(): DumpedRow[] {
  // Safe, like the two below: the files never change.
  const lines = linesOf("tables.jsonl") as [string, string, string, DumpedRow["columns"]][];
  return lines.map(([table, partitionKey, rowKey, columns]) => ({
    table,
    partitionKey,
    rowKey,
    columns,
  }));
}

export function dumpedMessages(): DumpedMessage[] {
  const lines = linesOf("queues.jsonl") as [string, string, string][];
  return lines.map(([queue, visibleAt, text]) => ({ queue, visibleAt, text }));
}

export function knownOfDump(): Known {
  return JSON.parse(readFileSync(join(FOLDER, "known.json"), "utf8")) as Known;
}

/** What is called so; one that nobody knows fails the test that asks. */
export function named<Value>(known: Readonly<Record<string, Value>>, name: string): Value {
  const value = known[name];
  if (value === undefined) throw new Error(`the dump knows no ${name}`);
  return value;
}
