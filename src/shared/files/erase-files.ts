import { inBatches } from "../runtime/promises.ts";
import type { RemovedPage } from "../runtime/walk-step.ts";
import type { FilesDeps } from "./deps.ts";
import type { FileRef } from "./file.ts";
import { eraseOperation } from "./file-store.ts";
import { blobName } from "./open-file.ts";

const PAGE = 100;
/** Where a page goes on: at the beginning, since what was there is removed. */
const MORE = "more";
const AT_ONCE = 8;

/**
 * Removes a page of a profile's files: the blobs, then the rows with their counts. May be repeated.
 */
export async function eraseFiles(
  deps: Pick<FilesDeps, "partitions" | "stores">,
  {
    platformId,
    applicationId,
    profileId,
  }: Omit<FileRef, "fileId"> & { readonly applicationId: string },
): Promise<RemovedPage> {
  const { stores, partitions } = deps;
  const ids = await stores.files.listIds(platformId, profileId, PAGE);
  await inBatches(ids, AT_ONCE, async (fileId) => {
    const ref = { platformId, profileId, fileId };
    if (stores.hasAccount) await stores.blobs.remove(blobName(deps, ref));
    await partitions.commit(platformId, eraseOperation(ref, applicationId));
  });
  return { removed: ids.length, next: ids.length === PAGE ? MORE : undefined };
}

/**
 * Removes a page of the blobs of a platform, also of those that have no row. Its rows go with its partition.
 */
export async function eraseFilesOfPlatform(
  { stores }: Pick<FilesDeps, "stores">,
  platformId: string,
): Promise<RemovedPage> {
  const removed = stores.hasAccount
    ? await stores.blobs.removePage(stores.blobFolder(platformId))
    : 0;
  return { removed, next: removed > 0 ? MORE : undefined };
}
