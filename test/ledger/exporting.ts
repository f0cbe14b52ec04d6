import { writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { PlatformScope } from "../../src/shared/callers/scope.ts";
import type { LedgerDeps } from "../../src/shared/ledger/deps.ts";
import { exportUsage } from "../../src/shared/ledger/ledger.ts";
import { LedgerStore } from "../../src/shared/ledger/ledger-store.ts";
import type { AppError } from "../../src/shared/runtime/errors.ts";
import { openTable } from "../../src/shared/runtime/storage/tables.ts";

/* A process that exports a ledger once it is warm, all files at the same time. Says how large they are, what was refused, and by how much the process grew. */

const SAMPLE_MS = 2;
const SETTLE_MS = 500;
const WARM_UPS = 3;
const [connectionString = "", from = "", warmTo = "", to = "", ...platforms] =
  process.argv.slice(2);

const core = openTable({ kind: "connection_string", connectionString }, "core");
// Safe: an export reads the ledger, and nothing else.
const deps = { stores: { ledger: new LedgerStore(core) } } as LedgerDeps;

async function exportTo(end: string, platformId: string): Promise<Uint8Array> {
  const caller = { kind: "session" };
  // Safe: an export asks for nothing more of its caller.
  const scope = { platformId, applicationId: null, caller } as PlatformScope;
  const { bytes } = await exportUsage(deps, scope, { from, to: end });
  return bytes;
}

for (let count = 0; count < WARM_UPS; count += 1) await exportTo(warmTo, "plt_warm");
globalThis.gc?.();
await wait(SETTLE_MS);
const { rss: before } = process.memoryUsage();
let most = before;
const look = () => {
  most = Math.max(most, process.memoryUsage().rss);
};
const timer = setInterval(look, SAMPLE_MS);
// Files are in memory until the last one is made, as until they are sent.
const ended = await Promise.allSettled(platforms.map((platformId) => exportTo(to, platformId)));
clearInterval(timer);
look();
const files = ended.map((one) =>
  one.status === "fulfilled" ? one.value.length : (one.reason as AppError).retryAfterSeconds,
);
writeSync(1, JSON.stringify({ files, grown: most - before }));
process.exit(0);
