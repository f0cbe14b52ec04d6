import { TableClient } from "@azure/data-tables";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TABLE_NAMES } from "../../../src/shared/storage/tables.ts";
import type { Waiting } from "../../model/memory-queues.ts";
import type { Relay } from "../../setup/relay.ts";
import type { Known } from "./known.ts";

const FOLDER = join(import.meta.dirname, "..");
/** What JSON says by itself; every other type is written down with its value. */
const PLAIN = new Set(["String", "Int32", "Boolean"]);
const NOT_OURS = new Set(["etag", "odata.etag", "odata.metadata", "timestamp", "Timestamp"]);

interface Typed {
  readonly type?: string;
  readonly value: string;
}

function valueOf(found: unknown): unknown {
  if (typeof found !== "object" || found === null) return found;
  const { type = "String", value } = found as Typed;
  if (!PLAIN.has(type)) return { type, value };
  if (type === "Int32") return Number(value);
  return type === "Boolean" ? value === "true" : value;
}

async function rowsOf({ settings }: Relay, table: string): Promise<string[]> {
  const name = (settings["STORAGE_PREFIX"] ?? "") + table;
  const connectionString = settings["AzureWebJobsStorage"] ?? "";
  const client = TableClient.fromConnectionString(connectionString, name, {
    allowInsecureConnection: true,
  });
  const lines: string[] = [];
  const entities = client.listEntities({ disableTypeConversion: true });
  for await (const { partitionKey, rowKey, ...entity } of entities) {
    const columns = Object.entries(entity).filter(([column]) => !NOT_OURS.has(column));
    const row = Object.fromEntries(columns.map(([column, found]) => [column, valueOf(found)]));
    lines.push(JSON.stringify([table, valueOf(partitionKey), valueOf(rowKey), row]));
  }
  return lines.sort();
}

const toLine = ({ queue, message, dueAt }: Waiting) =>
  JSON.stringify([queue, new Date(dueAt).toISOString(), JSON.stringify(message)]);

/** Writes down everything that is stored, and what is needed to use it. */
export async function writeDump(
  relay: Relay,
  { known, messages, sandbox }: { known: Known; messages: readonly Waiting[]; sandbox: string },
): Promise<void> {
  const rows: string[] = [];
  for (const table of TABLE_NAMES) rows.push(...(await rowsOf(relay, table)));
  writeFileSync(join(FOLDER, "tables.jsonl"), `${rows.join("\n")}\n`);
  writeFileSync(join(FOLDER, "queues.jsonl"), `${messages.map(toLine).join("\n")}\n`);
  writeFileSync(join(FOLDER, "known.json"), `${JSON.stringify(known, null, 2)}\n`);
  const kept = join(FOLDER, "sandbox");
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept);
  for (const file of readdirSync(sandbox).filter((name) => name.endsWith(".json")))
    writeFileSync(join(kept, file), readFileSync(join(sandbox, file)));
  const blobs = readdirSync(join(sandbox, "blobs"));
  if (blobs.length > 0) cpSync(join(sandbox, "blobs"), join(kept, "blobs"), { recursive: true });
}
