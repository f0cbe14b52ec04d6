import type { MediaProbe } from "../media/probe-media.ts";
import type { MediaFailure } from "../networks/contract/media.ts";
import type { PartitionView } from "../partition/partition.ts";
import { isId } from "../runtime/ids.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";
import { unusableFile } from "./bytes-store.ts";
import type { FilesDeps } from "./deps.ts";
import { isThere, isTooOldAt, keptForUse, type FileRef, type UploadedFile } from "./file.ts";
import { fileIn, fileKey, keptWrite, type StoredFile } from "./file-store.ts";
import { isReadableByPosts } from "./open-file.ts";
import { namedFile } from "./view-file.ts";

/** The files that a post names. */
export interface PostFiles {
  /** What each address names. Null for an address that can be no file of the profile. */
  readonly named: ReadonlyMap<string, FileRef | null>;
  /** The rows as they were read, by their keys. */
  readonly rows: ReadonlyMap<string, StoredRow | undefined>;
  readonly found: ReadonlyMap<string, StoredFile>;
}

/** Returns which of these addresses name files that were uploaded here. */
export function namedFiles(
  { config }: Pick<FilesDeps, "config">,
  { platformId, profileId }: Omit<FileRef, "fileId">,
  urls: readonly string[],
): PostFiles["named"] {
  const named = new Map<string, FileRef | null>();
  for (const url of urls) {
    const fileId = namedFile(config.publicBaseUrl, url);
    if (fileId === undefined) continue;
    const isOne = fileId !== null && isId("file", fileId);
    named.set(url, isOne ? { platformId, profileId, fileId } : null);
  }
  return named;
}

/** Returns the keys of the rows of these files. */
export const fileKeys = ({ named }: Pick<PostFiles, "named">): readonly string[] => [
  ...new Set([...named.values()].flatMap((ref) => (ref === null ? [] : [fileKey(ref)]))),
];

/** Reads the files that a post names, each by its key. Makes no request for a post without any. */
export async function findFiles(
  deps: Pick<FilesDeps, "config" | "stores">,
  owner: Omit<FileRef, "fileId">,
  urls: readonly string[],
): Promise<PostFiles> {
  const named = namedFiles(deps, owner, urls);
  const rows = new Map<string, StoredRow | undefined>();
  const found = new Map<string, StoredFile>();
  await Promise.all(
    [...named].map(async ([url, ref]) => {
      if (ref === null) return;
      const one = await deps.stores.files.find(ref);
      rows.set(fileKey(ref), one?.stored);
      if (one !== undefined) found.set(url, one);
    }),
  );
  return { named, rows, found };
}

/** Returns why a post that is due then can't use the file, if anything speaks against it. */
function misuse(file: UploadedFile | undefined, due: Date, now: Date): MediaFailure | undefined {
  if (file === undefined || !isThere(file, now)) return unusableFile();
  if (file.state === "waiting") return unusableFile("file.waiting");
  if (file.state !== "ready" || file.facts === null) return unusableFile();
  return isTooOldAt(file, due) ? unusableFile("file.expires") : undefined;
}

/** Returns what is stored of the files that a post names, or why it can't use them. */
export function factsOfFiles(
  { named, found }: PostFiles,
  due: Date,
  now: Date,
): ReadonlyMap<string, MediaProbe | MediaFailure> {
  return new Map(
    [...named.keys()].map((url) => {
      const file = found.get(url)?.file;
      return [url, misuse(file, due, now) ?? file?.facts ?? unusableFile()] as const;
    }),
  );
}

/**
 * Returns the writes that keep a post's files until after it is due, and why it can't use some of them by now. Both are
 * decided on the rows of the transaction. `isUsedBefore`: the post has used them, so those that were deleted since count.
 */
export function useFiles(
  view: PartitionView,
  { named }: Pick<PostFiles, "named">,
  { due, isUsedBefore = false }: { readonly due: Date; readonly isUsedBefore?: boolean },
): { readonly writes: readonly RowWrite[]; readonly failures: ReadonlyMap<string, MediaFailure> } {
  const writes = new Map<string, RowWrite>();
  const failures = new Map<string, MediaFailure>();
  for (const [url, ref] of named) {
    const one = ref === null ? undefined : fileIn(view, ref);
    const isKept = one !== undefined && isUsedBefore && isReadableByPosts(one.file, view.now);
    const failure = isKept ? undefined : misuse(one?.file, due, view.now);
    if (failure !== undefined) failures.set(url, failure);
    if (one === undefined || failure !== undefined) continue;
    const keptUntil = keptForUse(one.file, due);
    if (keptUntil === one.file.keptUntil && one.file.isUsed) continue;
    writes.set(one.stored.row.rowKey, keptWrite(one, keptUntil));
  }
  return { writes: [...writes.values()], failures };
}
