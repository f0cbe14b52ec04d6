import type { PlatformScope } from "../callers/scope.ts";
import { rateLimited } from "../limits/limits.ts";
import { validationFailed } from "../runtime/errors.ts";
import { FairLimit } from "../runtime/fair-limit.ts";
import type { LedgerDeps } from "./deps.ts";
import { fitsEntryFilter } from "./ledger-store.ts";
import type { ExportUsage } from "./schema.ts";
import { entryView, sequenceBefore, usageFilterOf } from "./usage.ts";

const RANGE_MS_MAX = 31 * 24 * 60 * 60_000;
const ENTRIES_MAX = 50_000;
/**
 * Entries around a time that may be on its other side: they are numbered in the order of their transactions, and the
 * clocks of the processes that write them differ.
 */
const OUT_OF_ORDER_MAX = 500;
/**
 * Two files are made at a time, for two platforms. Each has up to 20 MB and is in memory until it is sent, so more would
 * take more memory than a process has to spare. None waits: callers give up on an answer before its turn would come.
 */
const slots = new FairLimit({ capacity: 2, perOwner: 1, waitingMax: 0 });
const RETRY_SECONDS = 10;

const COLUMNS = [
  "id",
  "type",
  "operation",
  "tokens",
  "balanceAfter",
  "reservedAfter",
  "postId",
  "platform",
  "applicationId",
  "profileId",
  "actorKind",
  "actorId",
  "requestId",
  "note",
  "createdAt",
] as const;

/** Formats a cell as RFC 4180 says. Text that a spreadsheet would run as a formula gets an apostrophe. */
function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const line = (cells: readonly (string | number | null)[]) => `${cells.map(cell).join(",")}\r\n`;

function tooLarge(message: string): Error {
  return validationFailed([{ path: "from", code: "range_too_large", message }]);
}

const tooManyEntries = () =>
  tooLarge(
    `must be nearer to "to": the range has more than ${ENTRIES_MAX} entries. Export it in parts`,
  );

/** A file of CSV. */
export interface CsvFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Makes a file of the ledger's entries of a range, newest first, with the filters and the view of `listUsage`.
 * @throws AppError `application_mismatch`, `validation_failed` for a range that is too large, `rate_limited` while the
 * platform exports another one, or the process two
 */
export async function exportUsage(
  deps: LedgerDeps,
  scope: PlatformScope,
  query: ExportUsage,
): Promise<CsvFile> {
  const { filter } = usageFilterOf(scope, query);
  const { from, to } = query;
  if (Date.parse(to) - Date.parse(from) > RANGE_MS_MAX)
    throw tooLarge('must be at most 31 days before "to"');
  const { platformId } = scope;
  const { ledger } = deps.stores;
  const ended = await slots.run(platformId, 1, async () => {
    const newest = (await ledger.readWallet(platformId)).sequence;
    const first = await sequenceBefore(deps, platformId, from, { low: 0, high: newest });
    const end = first + ENTRIES_MAX + OUT_OF_ORDER_MAX;
    const last = await sequenceBefore(deps, platformId, to, {
      low: first,
      high: Math.min(newest, end + 1),
    });
    if (last > end) throw tooManyEntries();
    const range = {
      after: Math.max(0, first - OUT_OF_ORDER_MAX),
      upTo: Math.min(newest, last + OUT_OF_ORDER_MAX),
    };
    let file = Buffer.from(line(COLUMNS));
    let length = file.length;
    let entries = 0;
    let left = range.upTo - range.after;
    for await (const page of ledger.pages(platformId, range)) {
      let text = "";
      for (const entry of page) {
        if (entry.createdAt < from || entry.createdAt >= to) continue;
        entries += 1;
        if (!fitsEntryFilter(entry, filter)) continue;
        const { actor, ...shown } = entryView(entry);
        const cells = { ...shown, actorKind: actor.kind, actorId: actor.id };
        text += line(COLUMNS.map((column) => cells[column]));
      }
      if (entries > ENTRIES_MAX) throw tooManyEntries();
      const needed = length + Buffer.byteLength(text);
      if (needed > file.length) {
        // Room for the entries that are left, if they are no longer than these: parts that are joined at the end would
        // be in memory twice.
        const ahead = entries === 0 ? 1 : 1.05 * (1 + left / entries);
        const larger = Buffer.allocUnsafeSlow(Math.ceil(needed * ahead));
        file.copy(larger, 0, 0, length);
        file = larger;
      }
      file.write(text, length);
      length = needed;
      left -= page.length;
    }
    return file.subarray(0, length);
  });
  if (ended === undefined)
    throw rateLimited(
      RETRY_SECONDS,
      `Another file is being exported. Try again in ${RETRY_SECONDS} s.`,
    );
  const days = [from, to].map((time) => time.slice(0, 10)).join("-to-");
  return { name: `usage-${days}.csv`, bytes: ended.result };
}
