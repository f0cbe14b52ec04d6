import { BlobServiceClient } from "@azure/storage-blob";
import { takesRoom } from "../../src/shared/files/file.ts";
import { fileCountsRow, toFile } from "../../src/shared/files/file-row.ts";
import { FILES_CONTAINER } from "../../src/shared/runtime/storage/blobs.ts";
import type { Row } from "../../src/shared/runtime/storage/row.ts";
import type { Relay } from "./relay.ts";

/** The names of the blobs of a platform, without its folder. */
export async function blobsOf({ settings, services }: Relay, platformId: string) {
  const service = BlobServiceClient.fromConnectionString(settings["AzureWebJobsStorage"] ?? "");
  const prefix = services.publishing.files.stores.blobFolder(platformId);
  const names: string[] = [];
  for await (const { name } of service
    .getContainerClient(FILES_CONTAINER)
    .listBlobsFlat({ prefix }))
    names.push(name.slice(prefix.length));
  return names;
}

const idOf = ({ rowKey }: { readonly rowKey: string }) => rowKey.split("|").at(-1) ?? "";

/** Everything that is stored of the files of a platform. */
export async function storedFiles(relay: Relay, platformId: string) {
  if (relay.storage === undefined) throw new Error("the rows are in the emulator");
  const stored = [...relay.storage.rows(["core", "wake"])];
  const withPrefix = (prefix: string) =>
    stored
      .filter((row) => row.partitionKey === platformId && row.rowKey.startsWith(prefix))
      .map(({ properties, rowKey }): Row => ({ ...properties, rowKey }));
  const isWake = ({ partitionKey, properties }: (typeof stored)[number]) =>
    partitionKey.startsWith("file|") && properties["platformId"] === platformId;
  const [counts] = withPrefix("HB");
  return {
    files: withPrefix("B|").map((row) => toFile(platformId, row)),
    listed: withPrefix("BA|").map(idOf),
    wakes: stored.filter(isWake).map(idOf),
    counts: counts === undefined ? { bytes: 0, waiting: 0 } : fileCountsRow.decode(counts).files,
    blobs: await blobsOf(relay, platformId),
  };
}

/** What is wrong with what is stored of the files of a platform, at any moment. */
export async function fileViolations(relay: Relay, platformId: string): Promise<string[]> {
  const { files, listed, wakes, counts, blobs } = await storedFiles(relay, platformId);
  const wrong: string[] = [];
  const counted = files.filter(takesRoom).reduce((sum, { announced }) => sum + announced.bytes, 0);
  const waiting = files.filter(({ state }) => state === "waiting").length;
  if (counts.bytes !== counted || counts.waiting !== waiting)
    wrong.push(`counted are ${JSON.stringify(counts)}, and there are ${counted}, ${waiting}`);
  const ids = files.map(({ id }) => id);
  const shown = files.filter(({ state }) => state !== "deleted").map(({ id }) => id);
  if (listed.toSorted().join() !== shown.toSorted().join())
    wrong.push(`the list of the application has ${listed.join()} instead of ${shown.join()}`);
  for (const id of ids)
    if (!wakes.includes(id)) wrong.push(`nothing removes ${id} when it is over`);
  for (const name of blobs) if (!ids.includes(name)) wrong.push(`${name} has bytes and no row`);
  const now = relay.clock.now().toISOString();
  for (const { id, state, isUsed, keptUntil } of files) {
    const isUsable = state === "ready" || (state === "deleted" && isUsed);
    if (isUsable && now < keptUntil && !blobs.includes(id)) wrong.push(`${id} lost its bytes`);
  }
  return wrong;
}

/** What is left of the files of a platform, of which nothing is to be left. */
export async function fileRemains(relay: Relay, platformId: string): Promise<unknown[]> {
  const { files, listed, wakes, counts, blobs } = await storedFiles(relay, platformId);
  const { bytes, waiting } = counts;
  const isCounted = bytes !== 0 || waiting !== 0;
  return [
    ...files.map(({ id }) => id),
    ...listed,
    ...wakes,
    ...blobs,
    ...(isCounted ? [counts] : []),
  ];
}
