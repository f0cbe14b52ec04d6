import type { Config } from "../config/config.ts";
import { Blobs, FILES_CONTAINER } from "../runtime/storage/blobs.ts";
import { openBlobs, type Tables } from "../runtime/storage/tables.ts";
import { FileStore } from "./file-store.ts";

export type FileStores = ReturnType<typeof createFileStores>;

/** Opens the container of files. Without an account for them, each call is answered with 503. */
function openFiles(account: Config["storage"]["media"]): Blobs {
  if (account !== undefined) return openBlobs(account, FILES_CONTAINER);
  return new Blobs(() => Promise.reject(new Error("MEDIA_STORAGE is not set")));
}

/** Creates the store of files' rows, and the one of their bytes. */
export function createFileStores(
  { core }: Pick<Tables, "core">,
  { media, prefix }: Pick<Config["storage"], "media" | "prefix">,
  blobs: Blobs = openFiles(media),
) {
  return {
    files: new FileStore(core),
    blobs,
    /** Whether the settings name an account for files. Without one there are none. */
    hasAccount: media !== undefined,
    /** Returns the beginning of the names of a platform's blobs. */
    blobFolder: (platformId: string) => `${prefix}${platformId}/`,
  };
}

export type FileStorageState = "ok" | "failing" | "off";

/** Returns whether files can be uploaded and read. "off": the settings name no account for them. */
export async function storageState({
  stores: { blobs, hasAccount },
}: {
  readonly stores: Pick<FileStores, "blobs" | "hasAccount">;
}): Promise<FileStorageState> {
  if (!hasAccount) return "off";
  return await blobs.check().then(
    () => "ok",
    () => "failing",
  );
}
