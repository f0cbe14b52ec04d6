import type { ApplicationScope, ProfileScope } from "../callers/scope.ts";
import type { MediaFailure } from "../networks/contract/media.ts";
import type { OpenedMedia } from "../media/open-media.ts";
import {
  AppError,
  type Issue,
  notFound,
  refuseIssues,
  serviceUnavailable,
} from "../runtime/errors.ts";
import { isId, newId, timeOfId } from "../runtime/ids.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import type { Page } from "../runtime/page.ts";
import { PUT_BYTES_MAX } from "../runtime/storage-account.ts";
import type { FilesDeps } from "./deps.ts";
import { expiryWake } from "./expire-files.ts";
import { isAnnouncedType, isThere, KEPT_MS, WAITING_MS, type UploadedFile } from "./file.ts";
import {
  completeOperation,
  createOperation,
  deleteOperation,
  fileRefOf,
  type CompletedUpload,
  type StoredFile,
} from "./file-store.ts";
import { blobName, readAddressOf } from "./open-file.ts";
import type { CreateFile, ListFiles } from "./schema.ts";
import { BlobBytes } from "./bytes-store.ts";
import { fileView, rejectionOf, type FileView } from "./view-file.ts";

/** A profile, or an application when the caller names no profile, to read files. */
type FilesScope = (ProfileScope | ApplicationScope) & { readonly applicationId: string };

const profileOf = (scope: FilesScope) => ("profileId" in scope ? scope.profileId : undefined);

const UPLOAD_SECONDS = 30 * 60;

/** Returns issues of an announced file that its schema doesn't report: the operator's limit. */
export function issuesOfFile(
  { config }: Pick<FilesDeps, "config">,
  { bytes }: Readonly<Record<string, unknown>>,
): readonly Issue[] {
  const { bytesMax } = config.files;
  if (typeof bytes !== "number" || !(bytes > bytesMax && bytes <= PUT_BYTES_MAX)) return [];
  const message = `must be at most ${bytesMax}, the largest file that can be uploaded`;
  return [{ path: "bytes", code: "too_big", message }];
}

/**
 * Announces a file. The answer has the address at which its bytes are uploaded, once.
 * @throws AppError 400, `limit_reached`
 */
export async function createFile(
  deps: FilesDeps,
  scope: ProfileScope,
  { contentType, bytes, filename }: CreateFile,
): Promise<FileView> {
  refuseIssues(issuesOfFile(deps, { bytes }));
  const { platformId, applicationId, profileId } = scope;
  const now = deps.clock.now();
  const id = newId("file", now);
  // The time of the id, which is later than now if the clock was set back, since the keys of rows follow from it.
  const createdAtMs = timeOfId("file", id);
  const file: UploadedFile = {
    id,
    platformId,
    applicationId,
    profileId,
    state: "waiting",
    announced: { contentType, bytes, filename: filename ?? null },
    etag: null,
    facts: null,
    fault: null,
    createdAt: new Date(createdAtMs).toISOString(),
    completedAt: null,
    keptUntil: new Date(createdAtMs + KEPT_MS).toISOString(),
    isUsed: false,
  };
  // First, because nothing else would remove a file of which this row is missing, and because signing may fail.
  const ref = { platformId, profileId, fileId: id };
  const url = await deps.stores.blobs.createAddress(blobName(deps, ref), UPLOAD_SECONDS);
  await deps.wakes.add(expiryWake(ref, new Date(createdAtMs + WAITING_MS)), now);
  await deps.partitions.commit(
    platformId,
    createOperation(file, deps.config.files.platformBytesMax),
  );
  deps.audit.record(scope, { action: "file.created", target: { type: "file", id } });
  const upload = {
    method: "PUT" as const,
    url,
    headers: { "content-type": contentType, "x-ms-blob-type": "BlockBlob" },
    expiresAt: new Date(now.getTime() + UPLOAD_SECONDS * 1000).toISOString(),
  };
  return fileView(deps, file, { locale: scope.locale, upload });
}

/** Finds a file that exists for the caller. @throws AppError `not_found` */
async function findFile(deps: FilesDeps, scope: FilesScope, fileId: string): Promise<StoredFile> {
  if (!isId("file", fileId)) throw notFound();
  const { platformId, applicationId } = scope;
  const profileId =
    profileOf(scope) ?? (await deps.stores.files.findProfile(platformId, applicationId, fileId));
  if (profileId === undefined) throw notFound();
  const found = await deps.stores.files.find({ platformId, profileId, fileId });
  if (found?.file.applicationId !== applicationId || !isThere(found.file, deps.clock.now()))
    throw notFound();
  return found;
}

/** Time limit of reading a file's facts, since a caller waits. */
const READING_MS = 20_000;
/** A larger picture is known by its beginning. */
const WHOLE_PICTURE_MAX = 8 * 1024 * 1024;

/** Reasons of the reader that say that bytes are of another type. All others say that they can't be read. */
const OTHER_TYPE: readonly MediaFailure["reason"][] = ["webPage", "type"];

/**
 * Reads the facts of what was uploaded. Undefined when nothing is there.
 * @throws AppError `service_unavailable`
 */
async function inspectUpload(
  deps: FilesDeps,
  file: UploadedFile,
): Promise<CompletedUpload | undefined> {
  const { blobs } = deps.stores;
  const name = blobName(deps, fileRefOf(file));
  const blob = await blobs.find(name);
  if (blob === undefined) return undefined;
  if (!blob.isReadable) return { fault: "damaged" };
  if (blob.size !== file.announced.bytes) return { fault: "length" };
  // Loaded when a file is first inspected, because most requests don't need them.
  const [
    { describeFile, SAMPLE_BYTES },
    { mediaReader },
    { probeOf },
    { MediaFailure },
    { unreachable },
  ] = await Promise.all([
    import("../media/open-media.ts"),
    import("../media/media-reader.ts"),
    import("../media/probe-media.ts"),
    import("../networks/contract/media.ts"),
    import("../networks/contract/unreachable.ts"),
  ]);
  const bytes = new BlobBytes(blobs, name, blob);
  const endsAt = performance.now() + READING_MS;
  const leftMs = () => Math.max(0, endsAt - performance.now());
  const read = (first: number, last: number) =>
    withTimeLimit(leftMs(), bytes.read(first, last), () => {
      throw unreachable("slow");
    });
  let opened: OpenedMedia;
  try {
    const sample = await read(0, Math.min(blob.size, SAMPLE_BYTES) - 1);
    opened = await describeFile(
      {
        sample,
        bytes: {
          size: bytes.size,
          version: bytes.version,
          // What was read before is taken from memory.
          read: (first, last) =>
            last < sample.length
              ? Promise.resolve(sample.subarray(first, last + 1))
              : read(first, last),
          chunks: () => bytes.chunks(),
          close: () => bytes.close(),
        },
        isRanged: true,
        answer: { headers: {} },
      },
      {
        bytesMax: Number.MAX_SAFE_INTEGER,
        readBy: { reader: mediaReader, owner: file.platformId },
        isThorough: blob.size <= WHOLE_PICTURE_MAX,
        leftMs,
      },
    );
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    if (error.fileRule !== undefined) return undefined;
    // Storage, or the readers, are busy. The bytes have nothing to do with it.
    if (error.code === "media_unreachable") throw serviceUnavailable(error);
    return { fault: OTHER_TYPE.includes(error.reason) ? "type" : "damaged" };
  }
  if (opened.isUnreadable === true) return { fault: "damaged" };
  const facts = probeOf(opened);
  const isSameType = isAnnouncedType(file.announced.contentType, facts.contentType);
  return isSameType ? { etag: blob.etag, facts } : { fault: "type" };
}

/**
 * Ends the wait for an upload, and reads what the file is. May be repeated, and answers the same.
 * @throws AppError `not_found`, `invalid_state` before the upload, `media_rejected`
 */
export async function completeFile(
  deps: FilesDeps,
  scope: ProfileScope,
  fileId: string,
): Promise<FileView> {
  const found = await findFile(deps, scope, fileId);
  let { file } = found;
  if (file.state === "waiting") {
    const upload = await inspectUpload(deps, file);
    if (upload === undefined) {
      // Another request may have rejected it, and removed its bytes.
      ({ file } = await findFile(deps, scope, fileId));
      if (file.state === "waiting")
        throw new AppError("invalid_state", "Nothing was uploaded yet. Send the PUT first.", {
          details: { status: file.state },
        });
    } else {
      const operation = completeOperation(found, upload);
      const completed = await deps.partitions.commit(file.platformId, operation);
      ({ file } = completed);
      // After the transaction: a process that ends here leaves a blob, which is removed with the row.
      if (file.state === "rejected") await removeBlob(deps, file);
      if (completed.isNew)
        deps.audit.record(scope, {
          action: file.state === "rejected" ? "file.rejected" : "file.completed",
          target: { type: "file", id: file.id },
        });
    }
  }
  if (file.fault === null) return fileView(deps, file, scope);
  const { message, ...details } = rejectionOf(deps, file.fault, scope.locale);
  throw new AppError("media_rejected", message, { details });
}

/** Removes bytes that nothing uses. If that fails, they go with the row of the file. */
async function removeBlob(deps: FilesDeps, file: UploadedFile): Promise<void> {
  try {
    await deps.stores.blobs.remove(blobName(deps, fileRefOf(file)));
  } catch (error) {
    deps.log.warn("the bytes of a file were not removed yet", { file: file.id, error });
  }
}

/** Returns a file. @throws AppError `not_found` */
export async function getFile(
  deps: FilesDeps,
  scope: FilesScope,
  fileId: string,
): Promise<FileView> {
  const { file } = await findFile(deps, scope, fileId);
  return fileView(deps, file, scope);
}

/** Lists the files of a profile, or of an application, newest first. @throws AppError `invalid_cursor` */
export async function listFiles(
  deps: FilesDeps,
  scope: FilesScope,
  { limit, cursor, status, contentType = "" }: ListFiles,
): Promise<Page<FileView>> {
  const { platformId, applicationId } = scope;
  const profileId = profileOf(scope);
  const bound = { list: "files", platformId, applicationId, profileId, status, contentType };
  const position = { after: deps.cursors.read(cursor, bound), limit };
  const now = deps.clock.now();
  const mayFit = (type: string) => type.startsWith(contentType);
  const fits = (file: UploadedFile) =>
    isThere(file, now) &&
    (status === undefined || file.state === status) &&
    file.applicationId === applicationId;
  const { files } = deps.stores;
  const { items, next } =
    profileId === undefined
      ? await files.listOfApplication({ platformId, applicationId }, position, { mayFit, fits })
      : await files.listOfProfile(
          { platformId, profileId },
          position,
          (file) => fits(file) && mayFit(file.announced.contentType),
        );
  return {
    items: items.map((file) => fileView(deps, file, scope)),
    nextCursor: next === undefined ? null : deps.cursors.make(next, bound),
    limit,
  };
}

const CONTENT_SECONDS = 5 * 60;

/**
 * Makes an address at which the bytes of a file can be read for five minutes.
 * @throws AppError `not_found`, `invalid_state` for a file that is not ready
 */
export async function addressOfContent(
  deps: FilesDeps,
  scope: FilesScope,
  fileId: string,
): Promise<string> {
  const { file } = await findFile(deps, scope, fileId);
  if (file.state !== "ready")
    throw new AppError("invalid_state", `The file is ${file.state}, and has no content.`, {
      details: { status: file.state },
    });
  return await readAddressOf(deps, fileRefOf(file), file, CONTENT_SECONDS);
}

/**
 * Deletes a file for its callers. Its bytes are removed immediately if no post used it, else at `keptUntil`. May be
 * repeated until then. @throws AppError `not_found`
 */
export async function deleteFile(
  deps: FilesDeps,
  scope: ProfileScope,
  fileId: string,
): Promise<void> {
  if (!isId("file", fileId)) throw notFound();
  const { platformId, profileId } = scope;
  const operation = deleteOperation({ platformId, profileId, fileId });
  const { file, isNew } = await deps.partitions.commit(platformId, operation);
  if (!file.isUsed) await removeBlob(deps, file);
  if (isNew)
    deps.audit.record(scope, { action: "file.deleted", target: { type: "file", id: fileId } });
}
