import type { OpenedMedia } from "../media/open-media.ts";
import { AppError } from "../runtime/errors.ts";
import type { FilesDeps } from "./deps.ts";
import type { UploadedFile, FileRef } from "./file.ts";
import { isThere } from "./file.ts";
import { openStored, unreadableNow, unusableFile } from "./bytes-store.ts";

/** Returns the name of a file's blob. */
export const blobName = (
  { stores }: Pick<FilesDeps, "stores">,
  { platformId, fileId }: Pick<FileRef, "platformId" | "fileId">,
) => `${stores.blobFolder(platformId)}${fileId}`;

/** Reports whether a post that uses the file can still read its bytes. A file that was deleted after that counts. */
export function isReadableByPosts(file: UploadedFile, now: Date): boolean {
  if (now.toISOString() >= file.keptUntil) return false;
  return file.state === "ready" || (file.state === "deleted" && file.isUsed && file.facts !== null);
}

/**
 * Opens a file that was uploaded here, with the facts that are stored. Posts read files that were deleted after they
 * used them; a preview doesn't.
 * @throws MediaFailure when it can't be used
 */
export async function openUploaded(
  deps: Pick<FilesDeps, "clock" | "stores">,
  ref: FileRef,
  { bytesMax, isPreview = false }: { readonly bytesMax: number; readonly isPreview?: boolean },
): Promise<OpenedMedia> {
  const file = await findReadable(deps, ref);
  if (isPreview && !isThere(file, deps.clock.now())) throw unusableFile();
  return openStored(deps.stores.blobs, blobName(deps, ref), file, bytesMax);
}

/** Finds a file whose bytes a post may read. @throws MediaFailure when it can't be used */
async function findReadable(
  { clock, stores }: Pick<FilesDeps, "clock" | "stores">,
  ref: FileRef,
): Promise<UploadedFile> {
  const found = await stores.files.find(ref);
  if (found === undefined || !isReadableByPosts(found.file, clock.now())) throw unusableFile();
  return found.file;
}

/** How long a network may take to fetch a file while it processes a post. */
const FETCHED_SECONDS = 26 * 3_600;

/** Makes an address at which a network that fetches files itself can read the file. @throws MediaFailure */
export async function addressForNetwork(
  deps: Pick<FilesDeps, "clock" | "stores">,
  ref: FileRef,
): Promise<string> {
  const file = await findReadable(deps, ref);
  try {
    return await readAddressOf(deps, ref, file, FETCHED_SECONDS);
  } catch (error) {
    if (error instanceof AppError) throw unreadableNow(error);
    throw error;
  }
}

/** Makes an address at which the bytes can be read for a while. */
export function readAddressOf(
  deps: Pick<FilesDeps, "stores">,
  ref: FileRef,
  { announced, facts }: Pick<UploadedFile, "announced" | "facts">,
  seconds: number,
): Promise<string> {
  return deps.stores.blobs.readAddress(blobName(deps, ref), {
    seconds,
    contentType: facts?.contentType ?? announced.contentType,
    filename: announced.filename ?? ref.fileId,
  });
}
