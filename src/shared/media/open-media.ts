import type { MediaFile } from "../networks/contract/media.ts";
import { RedirectCookies } from "../networks/contract/redirect-cookies.ts";
import type { ImageFacts } from "./file-job.ts";
import type { OpenedResponse } from "../runtime/outbound-body.ts";
import { badStatus, unreachable } from "../networks/contract/unreachable.ts";
import { codingsOf } from "../runtime/content-coding.ts";
import {
  type Dialler,
  type ByteRange,
  type RemoteFile,
  isWholeFile,
  changeMark,
  mediaRequest,
  openResponse,
  partOf,
  mediaRefusal,
  tooLargeFile,
  validatorOf,
} from "./media-request.ts";
import {
  contentTypeOf,
  PDF,
  pdfStart,
  TIFF,
  UNKNOWN_TYPE,
  WEB_PAGE,
  WITH_MACROS,
} from "./content-type.ts";
import { fileNameOf } from "./file-name.ts";
import { isOldOffice, type OldOffice, oldOffice, type ReadRange } from "./office-type.ts";
import { officeParts } from "./office-parts.ts";
import { HeldMemory } from "./file-memory.ts";
import { type FileFacts, READ_BY_NOBODY, type ReadBy } from "./media-reader.ts";
import { readPdfEnd } from "./pdf-end.ts";
import { pdfFacts } from "./pdf-pages.ts";
import { pdfNeedsPassword } from "./pdf-password.ts";
import { readAll, readFacts } from "./read-facts.ts";
import { tiffContent } from "./tiff-content.ts";
import {
  HeldBytes,
  RangedBytes,
  StreamedBytes,
  takeUpTo,
  withoutStart,
  type RemoteBytes,
} from "./remote-bytes.ts";

/** Enough for the header and EXIF block of any image that isn't padded on purpose. */
export const SAMPLE_BYTES = 131_072;
/** Maximum size of a file that is held in memory because its server states no size. */
const HELD_BYTES_MAX = 32 * 1024 * 1024;

/** A file whose beginning was read. */
export interface OpenedFile {
  readonly sample: Uint8Array;
  readonly bytes: RemoteBytes;
  /** Whether any part can be read without what comes before it. */
  readonly isRanged: boolean;
  readonly answer: Pick<OpenedResponse, "headers">;
}

export interface OpenLimits {
  readonly bytesMax: number;
  /** The file's owner and reader. By default, no owner and a child process. */
  readonly readBy?: ReadBy | undefined;
  /** Whether the whole image is read, since its beginning doesn't show everything. The default is no. */
  readonly isThorough?: boolean;
  /** Milliseconds left to read its facts, including waits for a reader. The default is the reader's limits. */
  readonly leftMs?: () => number;
}

/** An opened file with the facts that its bytes show. */
export interface OpenedMedia extends MediaFile {
  readonly image: ImageFacts | null;
  readonly isUnreadable?: true | undefined;
}

/**
 * Opens a customer's media file without downloading it. The type, size and dimensions come from its first bytes, those
 * of a video also from others. Pieces are fetched if the server supports ranges. Otherwise the file is streamed, each
 * time from the beginning.
 * @throws MediaFailure
 */
export async function openMedia(
  dialler: Dialler,
  url: string,
  limits: OpenLimits,
): Promise<OpenedMedia> {
  const { bytesMax, readBy = READ_BY_NOBODY } = limits;
  return await describeFile(
    await openFile(dialler, url, { bytesMax, owner: readBy.owner }),
    limits,
  );
}

/** Reads the facts of an opened file, which is closed when that fails. @throws MediaFailure */
export async function describeFile(
  opened: OpenedFile,
  { bytesMax, readBy = READ_BY_NOBODY, isThorough = false, leftMs }: OpenLimits,
): Promise<OpenedMedia> {
  const { sample, answer } = opened;
  // Offsets in a PDF count from its header (ISO 32000-2, 7.5.2), so what precedes it isn't part of the document.
  const bytes = withoutStart(
    opened.bytes,
    contentTypeOf(sample) === PDF ? (pdfStart(sample) ?? 0) : 0,
  );
  const { size } = bytes;
  try {
    if (size > bytesMax) throw tooLargeFile(bytesMax);
    if (size === 0) throw unreachable("empty");
    const old = await oldOfficeIn({ sample, bytes });
    const contentType = old?.type ?? (await detectedType({ sample, bytes, answer }));
    const file = { contentType, size };
    const name = fileNameOf(answer.headers["content-disposition"]);
    const facts = await readFacts(readBy, { file, bytes, sample, isThorough, leftMs });
    return {
      contentType: typeByFacts(contentType, facts),
      size,
      ...facts,
      ...((facts.image?.frames ?? 1) > 1 ? { isMoving: true } : {}),
      ...(await documentFacts(contentType, { ...opened, bytes }, { old, owner: readBy.owner })),
      version: bytes.version,
      ...(name === undefined ? {} : { name }),
      read: (first, last) => bytes.read(first, last),
      chunks: () => bytes.chunks(),
      close: () => bytes.close(),
    };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

/**
 * Tells the type of an opened file by its bytes, also by those that are far from the beginning.
 * @throws MediaFailure for a web page instead of the file, and for a body that can't be decoded
 */
async function detectedType({
  sample,
  bytes,
  answer,
}: Omit<OpenedFile, "isRanged">): Promise<string> {
  const type = contentTypeOf(sample);
  const read = (first: number, last: number) => bytes.read(first, last);
  if (type === TIFF) {
    const { rawType, coding } = await tiffContent(sample, bytes.size, read);
    if (rawType === null && coding?.kind === "rare") throw mediaRefusal("imageCoding", coding.what);
    return rawType ?? type;
  }
  if (type === WEB_PAGE) throw mediaRefusal("webPage", "the file is a web page");
  if (type !== UNKNOWN_TYPE) return type;
  // Refuses a coded body of no known type. Otherwise the header doesn't count, as many servers send nonsense.
  const value = answer.headers["content-encoding"];
  const isMeant = value !== undefined && value !== "" && value.toLowerCase() !== "identity";
  if (isMeant) throw unreachable("coding", { value });
  if (
    /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(answer.headers["content-type"] ?? "") &&
    !sample.subarray(0, TEXT_BYTES).includes(0)
  )
    throw mediaRefusal("webPage", "its server says that the file is a web page");
  return type;
}

function oldOfficeIn({
  sample,
  bytes,
}: Pick<OpenedFile, "sample" | "bytes">): Promise<OldOffice | undefined> {
  const read: ReadRange = (first, last) => bytes.read(first, last);
  return isOldOffice(sample) ? oldOffice(sample, bytes.size, read) : Promise.resolve(undefined);
}

/** Documents that are read as a whole from a server that sends files from their beginning alone. */
const READ_THROUGH_MS_MAX = 10_000;
const READ_THROUGH_MAX = 8 * 1024 * 1024;

type DocumentFacts = Pick<MediaFile, "needsPassword" | "pages" | "isDynamicForm"> &
  Partial<Pick<MediaFile, "contentType">>;

/** Reads what may speak against a document: that it needs a password, has too many pages, or macros. */
async function documentFacts(
  contentType: string,
  { bytes, isRanged }: Pick<OpenedFile, "bytes" | "isRanged">,
  { old, owner }: { readonly old: OldOffice | undefined; readonly owner: string },
): Promise<DocumentFacts> {
  if (old !== undefined) return old.needsPassword ? { needsPassword: true } : {};
  const macroType = WITH_MACROS[contentType];
  if (contentType !== PDF && macroType === undefined) return {};
  const memory = new HeldMemory(owner);
  try {
    let read: ReadRange = (first, last) => bytes.read(first, last);
    if (!isRanged && bytes.size > SAMPLE_BYTES) {
      if (bytes.size > READ_THROUGH_MAX) return {};
      memory.take(bytes.size);
      const whole = await readAll(bytes, performance.now() + READ_THROUGH_MS_MAX);
      read = (first, last) => Promise.resolve(whole.subarray(first, last + 1));
    }
    if (macroType !== undefined) {
      const { slides, hasMacros = false } = (await officeParts(bytes.size, read)) ?? {};
      return {
        ...(hasMacros ? { contentType: macroType } : {}),
        ...(slides === undefined ? {} : { pages: slides }),
      };
    }
    const end = await readPdfEnd(bytes.size, read);
    const needsPassword = await pdfNeedsPassword(end, read);
    return { ...(needsPassword ? { needsPassword } : {}), ...(await pdfFacts(end, read)) };
  } finally {
    memory.release();
  }
}

/** How many bytes are checked for a zero, which no text in an ASCII-compatible encoding has. */
const TEXT_BYTES = 4_096;

/** Corrects the type by the facts: a file with a length but no frame is sound, even in a type for films. */
function typeByFacts(contentType: string, { durationSeconds, width }: FileFacts): string {
  if (durationSeconds === null || width !== null) return contentType;
  return contentType.replace(/^video\/(mp4|webm|3gpp2?)$/, "audio/$1");
}

interface OwnedLimits extends Omit<OpenLimits, "readBy" | "isThorough" | "leftMs"> {
  readonly owner: string;
}

/**
 * Requests a file's beginning. If the answer is unusable (a part of a compressed file, another part, several parts, or
 * a part of a file of unknown size), the whole file is requested.
 */
async function openFile(dialler: Dialler, url: string, limits: OwnedLimits): Promise<OpenedFile> {
  const range = `bytes=0-${SAMPLE_BYTES - 1}`;
  const called = { dialler, cookies: new RedirectCookies() };
  const { url: address, answer } = await openResponse(called, mediaRequest(url, { range }));
  const part = beginningOf(answer);
  if (part !== undefined) return ranged({ ...called, url: address }, answer, part);
  if (answer.status !== 206 && answer.status !== 416)
    return streamed({ ...called, url: address }, answer, limits);
  answer.cancel();
  const whole = await openResponse(called, mediaRequest(address));
  return streamed({ ...called, url: whole.url }, whole.answer, limits);
}

type FirstPart = ByteRange & { readonly size: number };

/** Returns the part of the file in an answer, or undefined when reading can't continue from there. */
function beginningOf(answer: OpenedResponse): FirstPart | undefined {
  const part =
    answer.status === 206 && !(codingsOf(answer.headers["content-encoding"] ?? "").length > 0)
      ? partOf(answer)
      : undefined;
  const { first, last, size } = part ?? {};
  if (first !== 0 || last === undefined || size === undefined || last >= size) return undefined;
  return { first, last, size };
}

async function ranged(
  file: RemoteFile,
  answer: OpenedResponse,
  { last, size }: FirstPart,
): Promise<OpenedFile> {
  const length = Math.min(last + 1, SAMPLE_BYTES);
  const { bytes: sample } = await takeUpTo(answer, length);
  if (sample.length < length) throw unreachable("connection_lost");
  const known = { size, validator: validatorOf(answer), mark: changeMark(answer) };
  const bytes = new RangedBytes(file, { ...known, sample });
  const wanted = Math.min(size, SAMPLE_BYTES);
  if (length === wanted) return { sample, bytes, answer, isRanged: true };
  const rest = await bytes.read(length, wanted - 1);
  const whole = Buffer.concat([sample, rest]);
  return {
    sample: whole,
    bytes: new RangedBytes(file, { ...known, sample: whole }),
    answer,
    isRanged: true,
  };
}

async function streamed(
  file: RemoteFile,
  answer: OpenedResponse,
  { bytesMax, owner }: OwnedLimits,
): Promise<OpenedFile> {
  if (!isWholeFile(answer)) {
    answer.cancel();
    const { status } = answer;
    if (status === 204 || status === 205) throw unreachable("empty");
    throw status === 206 ? unreachable("range") : badStatus(status);
  }
  const length = answer.headers["content-length"];
  if (length === undefined) return held(answer, bytesMax, new HeldMemory(owner));
  const size = Number(length);
  const { bytes: sample } = await takeUpTo(answer, Math.min(SAMPLE_BYTES, size));
  if (sample.length < Math.min(size, SAMPLE_BYTES)) throw unreachable("connection_lost");
  const known = { size, validator: validatorOf(answer), mark: changeMark(answer), sample };
  return { sample, bytes: new StreamedBytes(file, known), answer, isRanged: false };
}

async function held(
  answer: OpenedResponse,
  bytesMax: number,
  memory: HeldMemory,
): Promise<OpenedFile> {
  const limit = Math.min(bytesMax, HELD_BYTES_MAX);
  try {
    const { bytes, isWhole } = await takeUpTo(answer, limit, memory);
    if (isWhole)
      return { sample: bytes, bytes: new HeldBytes(bytes, memory), answer, isRanged: true };
    const value = HELD_BYTES_MAX / 1024 / 1024;
    throw bytesMax > limit ? unreachable("size_unknown", { value }) : tooLargeFile(limit);
  } catch (error) {
    memory.release();
    throw error;
  }
}
