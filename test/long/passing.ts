import { BlobBytes } from "../../src/shared/files/bytes-store.ts";
import { multipartWithFile } from "../../src/shared/networks/contract/multipart.ts";
import { parseConfig } from "../../src/shared/config/config.ts";
import { createOutbound } from "../../src/shared/runtime/outbound.ts";
import { FILES_CONTAINER } from "../../src/shared/runtime/storage/blobs.ts";
import { openBlobs } from "../../src/shared/runtime/storage/tables.ts";

/** A process of its own that passes one file of storage on to a network, several times at once, and says what that took. */
const [connectionString = "", name = "", sink = "", settings = "{}"] = process.argv.slice(2);
const TIMEOUT_MS = 240_000;

const blobs = openBlobs({ kind: "connection_string", connectionString }, FILES_CONTAINER);
const outbound = createOutbound(
  parseConfig({
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: connectionString,
    ...(JSON.parse(settings) as Record<string, string>),
  }),
);
const blob = await blobs.find(name);
if (blob === undefined) throw new Error("the file is not there");

async function pass(): Promise<number> {
  const body = new BlobBytes(blobs, name, blob ?? { size: 0, etag: "" });
  const file = { name: "file", filename: "film.mp4", contentType: "video/mp4", body };
  const form = multipartWithFile({}, file);
  const sent = { method: "POST", url: sink, ...form, timeoutMs: TIMEOUT_MS } as const;
  return (await outbound.request(sent)).status;
}

const rss = () => process.memoryUsage().rss;
const grown: Record<number, number> = {};
await pass();
for (const count of [1, 8]) {
  const before = rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, rss())), 5);
  const statuses = await Promise.all(Array.from({ length: count }, pass));
  clearInterval(timer);
  if (statuses.some((status) => status !== 200)) throw new Error(statuses.join(" "));
  grown[count] = most - before;
}
process.stdout.write(JSON.stringify(grown));
await outbound.close();
