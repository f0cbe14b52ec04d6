import type { MediaProbe } from "../media/probe-media.ts";

/** The types that can be uploaded. Web pages and SVG, which browsers run, are never among them. */
export const FILE_TYPES = [
  "image/jpeg",
  "image/png",
  "image/webp",
  "image/gif",
  "image/avif",
  "image/tiff",
  "image/bmp",
  "image/heic",
  "image/heif",
  "video/mp4",
  "video/quicktime",
  "video/webm",
  "video/mpeg",
  "audio/mpeg",
  "audio/mp4",
  "audio/aac",
  "audio/ogg",
  "audio/wav",
  "audio/flac",
  "application/pdf",
  "application/msword",
  "application/vnd.ms-powerpoint",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
] as const;

/**
 * Types that programs take for one another. An encrypted Office document doesn't show which one it is.
 */
const SAME_KIND: readonly (readonly string[])[] = [
  ["image/heic", "image/heif"],
  ["video/mp4", "video/quicktime", "video/3gpp", "video/3gpp2"],
  ["audio/mp4", "audio/aac"],
  ...FILE_TYPES.filter((type) => /word|powerpoint|presentation/.test(type)).map((type) => [
    type,
    "application/encrypted",
  ]),
];

/** Reports whether bytes of this type are what was announced. */
export function isAnnouncedType(announced: string, found: string): boolean {
  return (
    announced === found ||
    SAME_KIND.some((types) => types.includes(announced) && types.includes(found))
  );
}

/** What a file's bytes show. */
export type StoredFacts = MediaProbe;

/** Why uploaded bytes were refused: their number, their type, or that they can't be read. */
export const FILE_FAULTS = ["length", "type", "damaged"] as const;
export type FileFault = (typeof FILE_FAULTS)[number];

export const FILE_STATES = ["waiting", "ready", "rejected", "deleted"] as const;

/** Names a file by its owner and its id, from which its rows are found. */
export interface FileRef {
  readonly platformId: string;
  readonly profileId: string;
  readonly fileId: string;
}

/** What the caller says of a file before its upload. */
export interface AnnouncedFile {
  readonly contentType: string;
  readonly bytes: number;
  readonly filename: string | null;
}

/** A file that a customer uploads once, to use it in posts. */
export interface UploadedFile {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly state: (typeof FILE_STATES)[number];
  readonly announced: AnnouncedFile;
  /** The version of the blob that the facts are about. Null until the upload is complete. */
  readonly etag: string | null;
  readonly facts: StoredFacts | null;
  readonly fault: FileFault | null;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly keptUntil: string;
  /** Whether a post has used it, so that its bytes stay until `keptUntil` even when it is deleted. */
  readonly isUsed: boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long an upload that was announced is waited for. */
export const WAITING_MS = 4 * HOUR_MS;
export const KEPT_MS = 7 * DAY_MS;
/** How long a file is kept after the post that uses it is due. */
const KEPT_AFTER_USE_MS = 8 * DAY_MS;
const USABLE_MS = 365 * DAY_MS;

/** Reports whether the file exists for callers: until it is deleted, its time is over, or its upload did not come. */
export function isThere(file: UploadedFile, now: Date): boolean {
  const { state, createdAt, keptUntil } = file;
  const isLate = state === "waiting" && now.getTime() >= Date.parse(createdAt) + WAITING_MS;
  return state !== "deleted" && !isLate && now.toISOString() < keptUntil;
}

/** Reports whether the bytes of the file count for its platform. */
export function takesRoom({ state, isUsed }: Pick<UploadedFile, "state" | "isUsed">): boolean {
  return state === "waiting" || state === "ready" || (state === "deleted" && isUsed);
}

/** Reports whether the file is too old for a post that is due then. */
export function isTooOldAt({ createdAt }: Pick<UploadedFile, "createdAt">, due: Date): boolean {
  return due.getTime() > Date.parse(createdAt) + USABLE_MS;
}

/**
 * Returns until when a file is kept that a post uses which is due then: never less than before. It is a full hour, so that
 * further posts of the hour change nothing.
 */
export function keptForUse(
  { createdAt, keptUntil }: Pick<UploadedFile, "createdAt" | "keptUntil">,
  due: Date,
) {
  const hour = Math.ceil((due.getTime() + KEPT_AFTER_USE_MS) / HOUR_MS) * HOUR_MS;
  const latest = Date.parse(createdAt) + USABLE_MS + KEPT_AFTER_USE_MS;
  const wanted = new Date(Math.min(hour, latest)).toISOString();
  return wanted > keptUntil ? wanted : keptUntil;
}
