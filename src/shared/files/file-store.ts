import { randomUUID } from "node:crypto";
import { type Wallet, walletOf } from "../ledger/ledger.ts";
import {
  HEAD_KEY,
  type PartitionDecision,
  type PartitionOperation,
  type PartitionView,
} from "../partition/partition.ts";
import { type AppError, limitReached, notFound } from "../runtime/errors.ts";
import { inverted, isId } from "../runtime/ids.ts";
import type { Reader } from "../runtime/storage/codec.ts";
import { undefinedIfDamaged, unlessDamaged } from "../runtime/storage/damaged-row.ts";
import { type ListPosition, newestFirst } from "../runtime/storage/newest-first.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";
import type { ScannedPage } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import {
  takesRoom,
  isThere,
  type UploadedFile,
  type FileFault,
  type FileRef,
  type StoredFacts,
} from "./file.ts";
import {
  fileCountsRow,
  filePrefix,
  fileRow,
  fileTime,
  listedFilePrefix,
  listedFileRow,
  toFile,
  toFileCounts,
  type FileCounts,
} from "./file-row.ts";

/** Key of a platform's counts of files. The row is read and cached with the head, like the wallet. */
const COUNTS_KEY = `${HEAD_KEY}B`;
const WAITING_MAX = 100;
/** Limit of a platform that no operator has credited. */
const UNPAID_BYTES_MAX = 1_073_741_824;
const GIBIBYTE = 1_073_741_824;

/** Returns the key of a file's row, computed from its id, which contains its time. */
export function fileKey({ profileId, fileId }: Pick<FileRef, "profileId" | "fileId">): string {
  return `${filePrefix(profileId)}${inverted(fileTime(fileId))}|${fileId}`;
}

const listedFileKey = ({ applicationId, id }: Pick<UploadedFile, "applicationId" | "id">) =>
  `${listedFilePrefix(applicationId)}${inverted(fileTime(id))}|${id}`;

/** A file with the version of its row. */
export interface StoredFile {
  readonly file: UploadedFile;
  readonly stored: StoredRow;
}

/** Reads the rows of files (table `core`). The operations below write them. */
export class FileStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  /** Finds a file of a profile. @throws DamagedRow */
  async find(ref: FileRef, reader?: Reader): Promise<StoredFile | undefined> {
    const stored = await this.#core.find(ref.platformId, fileKey(ref));
    return stored && { file: toFile(ref.platformId, stored.row, reader), stored };
  }

  /** Finds which profile of the application a file belongs to. @throws DamagedRow */
  async findProfile(
    platformId: string,
    applicationId: string,
    id: string,
  ): Promise<string | undefined> {
    if (!isId("file", id)) return undefined;
    const stored = await this.#core.find(platformId, listedFileKey({ applicationId, id }));
    return stored && listedFileRow.decode(stored.row).profileId;
  }

  /** Lists the files of a profile that fit, newest first. */
  listOfProfile(
    { platformId, profileId }: Omit<FileRef, "fileId">,
    position: ListPosition,
    fits: (file: UploadedFile) => boolean,
  ): Promise<ScannedPage<UploadedFile>> {
    const decode = (partitionKey: string, row: StoredRow["row"]) =>
      toFile(partitionKey, row, "people");
    const rows = newestFirst<UploadedFile>("file", filePrefix(profileId), decode);
    return rows.list(this.#core, platformId, position, fits);
  }

  /** Lists the files of an application that fit, newest first: one query, and a read for each file of the page. */
  async listOfApplication(
    { platformId, applicationId }: { readonly platformId: string; readonly applicationId: string },
    { after, limit }: ListPosition,
    {
      mayFit,
      fits,
    }: { mayFit: (contentType: string) => boolean; fits: (file: UploadedFile) => boolean },
  ): Promise<ScannedPage<UploadedFile>> {
    const rows = newestFirst("file", listedFilePrefix(applicationId), (_platformId, row) => ({
      ...listedFileRow.decode(row),
      id: row.rowKey.split("|").at(-1) ?? "",
    }));
    const page = await rows.list(this.#core, platformId, { after, limit }, ({ contentType }) =>
      mayFit(contentType),
    );
    // A file that is damaged, or was removed since, is left out.
    const found = await Promise.all(
      page.items.map(({ profileId, id: fileId }) =>
        undefinedIfDamaged(this.find({ platformId, profileId, fileId }, "people")),
      ),
    );
    const items = found.flatMap((one) => (one !== undefined && fits(one.file) ? [one.file] : []));
    return { items, next: page.next };
  }

  /** Lists a page of a profile's rows of files, damaged ones too, to remove them. */
  async listIds(platformId: string, profileId: string, limit: number): Promise<readonly string[]> {
    const prefix = filePrefix(profileId);
    const range = { partitionKey: platformId, from: prefix, before: afterPrefix(prefix), limit };
    const rows = await this.#core.list(range);
    return rows.map(({ row }) => row.rowKey.split("|").at(-1) ?? "");
  }
}

/** Returns the write of the counts after a change of them. @throws DamagedRow */
function fileCountsWrite(view: PartitionView, change: FileCounts): RowWrite {
  const stored = view.row(COUNTS_KEY);
  const { bytes, waiting } = toFileCounts(stored);
  const counts = {
    bytes: Math.max(0, bytes + change.bytes),
    waiting: Math.max(0, waiting + change.waiting),
  };
  const row = { ...fileCountsRow.encode({ files: counts }), rowKey: COUNTS_KEY };
  return stored === undefined ? { kind: "create", row } : { kind: "merge", row, etag: stored.etag };
}

/** Returns the write of the counts after a file has changed, or none where it counts as before. */
function recount(
  view: PartitionView,
  before: UploadedFile,
  after: UploadedFile | undefined,
): RowWrite[] {
  const was = {
    bytes: takesRoom(before) ? before.announced.bytes : 0,
    waits: waitsForUpload(before),
  };
  const counts = after !== undefined && takesRoom(after);
  const bytes = (counts ? before.announced.bytes : 0) - was.bytes;
  const waiting = Number(after !== undefined && waitsForUpload(after)) - Number(was.waits);
  return bytes === 0 && waiting === 0 ? [] : [fileCountsWrite(view, { bytes, waiting })];
}

const waitsForUpload = ({ state }: UploadedFile) => state === "waiting";

/** Returns what names a file. */
export const fileRefOf = ({ platformId, profileId, id: fileId }: UploadedFile): FileRef => ({
  platformId,
  profileId,
  fileId,
});

function limitRefusal(
  view: PartitionView,
  { bytes }: UploadedFile["announced"],
  platformBytesMax: number,
): AppError | undefined {
  const counts = toFileCounts(view.row(COUNTS_KEY));
  if (counts.waiting >= WAITING_MAX)
    return limitReached(
      `${WAITING_MAX} files wait for their upload. Complete or delete some of them first.`,
    );
  const { isCredited }: Wallet = walletOf(view);
  const max = isCredited ? platformBytesMax : Math.min(UNPAID_BYTES_MAX, platformBytesMax);
  if (counts.bytes + bytes <= max) return undefined;
  const gibibytes = (max / GIBIBYTE).toLocaleString("en", { maximumFractionDigits: 1 });
  const used = `The files of the platform take ${counts.bytes} bytes, and ${max} (${gibibytes} GiB) are allowed.`;
  return limitReached(
    isCredited
      ? `${used} Delete files that no post needs any more.`
      : `${used} Delete some; there is more room once an operator has added tokens to the wallet.`,
  );
}

/** Makes the operation that writes a new file, within the limits of its platform. */
export function createOperation(
  file: UploadedFile,
  platformBytesMax: number,
): PartitionOperation<UploadedFile> {
  const key = fileKey(fileRefOf(file));
  return {
    id: `file|${file.id}`,
    rowKeys: [key],
    known: new Map([[key, undefined]]),
    decide(view) {
      if (view.row(key) !== undefined) return { kind: "done", answer: file, isOwn: true };
      const refusal = limitRefusal(view, file.announced, platformBytesMax);
      if (refusal !== undefined) return { kind: "refuse", error: refusal };
      const { profileId, announced } = file;
      const listed = listedFileRow.encode({ profileId, contentType: announced.contentType });
      const writes: RowWrite[] = [
        { kind: "create", row: { ...fileRow.encode(file), rowKey: key } },
        { kind: "create", row: { ...listed, rowKey: listedFileKey(file) } },
        fileCountsWrite(view, { bytes: announced.bytes, waiting: 1 }),
      ];
      return { kind: "write", writes, answer: file };
    },
  };
}

/** Returns the write of a file that has changed, under the version that was read. */
function fileWrite({ stored }: StoredFile, after: UploadedFile): RowWrite {
  const { state, etag, facts, fault, completedAt, keptUntil, isUsed } = after;
  const columns = fileRow.encodePart({ state, etag, facts, fault, completedAt, keptUntil, isUsed });
  return {
    kind: "merge",
    row: { ...columns, rowKey: stored.row.rowKey },
    etag: stored.etag,
  };
}

/** Returns the write of a file that a post uses, which keeps it until then. */
export const keptWrite = (found: StoredFile, keptUntil: string): RowWrite =>
  fileWrite(found, { ...found.file, keptUntil, isUsed: true });

/** Returns a file as an operation sees it. @throws DamagedRow */
export function fileIn(view: PartitionView, ref: FileRef): StoredFile | undefined {
  const stored = view.row(fileKey(ref));
  return stored && { file: toFile(ref.platformId, stored.row), stored };
}

/** Makes an operation on one file, which refuses when there is no such file. */
function fileOperation<Answer>(
  name: string,
  ref: FileRef,
  known: StoredFile | undefined,
  decide: (found: StoredFile, view: PartitionView, tried?: Answer) => PartitionDecision<Answer>,
): PartitionOperation<Answer> {
  const key = fileKey(ref);
  return {
    id: `file|${name}|${randomUUID()}`,
    rowKeys: [key],
    ...(known && { known: new Map([[key, known.stored]]) }),
    decide(view, tried) {
      const found = fileIn(view, ref);
      return found === undefined
        ? { kind: "refuse", error: notFound() }
        : decide(found, view, tried?.answer);
    },
  };
}

/** A file after an operation, and whether that changed it. */
interface ChangedFile {
  readonly file: UploadedFile;
  readonly isNew: boolean;
}

/** What became of an upload: its blob with the facts that it shows, or why it was refused. */
export type CompletedUpload =
  { readonly etag: string; readonly facts: StoredFacts } | { readonly fault: FileFault };

/**
 * Makes the operation that ends the wait for an upload. The first one decides, and a later one gets its result.
 */
export function completeOperation(
  known: StoredFile,
  upload: CompletedUpload,
): PartitionOperation<ChangedFile> {
  return fileOperation<ChangedFile>(
    "complete",
    fileRefOf(known.file),
    known,
    (found, view, tried) => {
      const { file } = found;
      if (!isThere(file, view.now)) return { kind: "refuse", error: notFound() };
      // A try whose answer was lost may have been applied.
      const isOwn = tried?.file.completedAt === file.completedAt;
      if (file.state !== "waiting") return { kind: "done", answer: { file, isNew: isOwn } };
      const completedAt = view.now.toISOString();
      const after: UploadedFile =
        "fault" in upload
          ? { ...file, state: "rejected", fault: upload.fault, completedAt }
          : { ...file, ...upload, state: "ready", completedAt };
      const writes = [fileWrite(found, after), ...recount(view, file, after)];
      return { kind: "write", writes, answer: { file: after, isNew: true } };
    },
  );
}

/** Makes the operation that deletes a file for its callers. Its row stays until `keptUntil`. */
export function deleteOperation(ref: FileRef): PartitionOperation<ChangedFile> {
  return fileOperation<ChangedFile>("delete", ref, undefined, (found, view) => {
    const { file } = found;
    if (view.now.toISOString() >= file.keptUntil) return { kind: "refuse", error: notFound() };
    if (file.state === "deleted") return { kind: "done", answer: { file, isNew: false } };
    const after: UploadedFile = { ...file, state: "deleted" };
    const writes: RowWrite[] = [
      fileWrite(found, after),
      { kind: "delete", rowKey: listedFileKey(file) },
      ...recount(view, file, after),
    ];
    return { kind: "write", writes, answer: { file: after, isNew: true } };
  });
}

/**
 * Makes the operation that removes the rows of a file, after its blob. A file that is kept for longer by now stays, and
 * the answer is whether it does.
 */
export function expireOperation(
  ref: FileRef,
  isOver: (file: UploadedFile, now: Date) => boolean,
): PartitionOperation<boolean> {
  const key = fileKey(ref);
  return {
    id: `file|remove|${randomUUID()}`,
    rowKeys: [key],
    decide(view) {
      const found = fileIn(view, ref);
      if (found === undefined) return { kind: "done", answer: false };
      if (!isOver(found.file, view.now)) return { kind: "done", answer: true };
      return { kind: "write", writes: removalWrites(found.file, view), answer: false };
    },
  };
}

function removalWrites(file: UploadedFile, view: PartitionView): RowWrite[] {
  const listed = file.state === "deleted" ? [] : [listedFileKey(file)];
  const rowKeys = [fileKey(fileRefOf(file)), ...listed];
  return [
    ...rowKeys.map((rowKey) => ({ kind: "delete", rowKey }) as const),
    ...recount(view, file, undefined),
  ];
}

/**
 * Makes the operation that removes the rows of a file of this application, whatever its state. A damaged row goes without
 * its counts.
 */
export function eraseOperation(ref: FileRef, applicationId: string): PartitionOperation<void> {
  const key = fileKey(ref);
  const listedKey = listedFileKey({ applicationId, id: ref.fileId });
  return {
    id: `file|erase|${randomUUID()}`,
    rowKeys: [key, listedKey],
    decide(view) {
      const stored = view.row(key);
      if (stored === undefined) return { kind: "done", answer: undefined };
      const whole = unlessDamaged(() => removalWrites(toFile(ref.platformId, stored.row), view));
      const keys = [key, ...(view.row(listedKey) === undefined ? [] : [listedKey])];
      const writes = whole ?? keys.map((rowKey) => ({ kind: "delete", rowKey }) as const);
      return { kind: "write", writes, answer: undefined };
    },
  };
}
