import type { MediaFile } from "../networks/contract/media.ts";
import type { ImageFacts } from "./file-job.ts";
import type { OpenedResponse } from "../runtime/outbound-body.ts";
import {
  type Dialler,
  type RemoteFile,
  mediaRequest,
  openResponse,
  tooLarge,
  unreachable,
  versionOf,
} from "./dialled.ts";
import { contentTypeOf } from "./content-type.ts";
import { HeldMemory } from "./held-memory.ts";
import { READ_BY_NOBODY, type ReadBy } from "./media-reader.ts";
import { readFacts } from "./read-facts.ts";
import {
  HeldBytes,
  RangedBytes,
  StreamedBytes,
  takeUpTo,
  type RemoteBytes,
} from "./remote-bytes.ts";

/** Enough for the header of any image, its EXIF block included, that is not padded on purpose. */
export const SAMPLE_BYTES = 131_072;
/** Longest file that is kept in memory because its server states no size. */
const HELD_BYTES_MAX = 32 * 1024 * 1024;

interface Opened {
  readonly sample: Uint8Array;
  readonly bytes: RemoteBytes;
}

export interface OpenLimits {
  readonly bytesMax: number;
  /** The size by an earlier answer, in case this one has none. */
  readonly knownSize?: number | undefined;
  /** Whose file it is, and its reader; nobody's and in a child process when absent. */
  readonly readBy?: ReadBy | undefined;
}

/** An opened file with the facts of its bytes. */
export interface OpenedMedia extends MediaFile {
  /** Of images: what decides whether a network takes it as it is. */
  readonly image: ImageFacts | null;
}

/**
 * Opens a customer's media file without downloading it: reads type, size and dimensions from its first bytes, and for a
 * video from more. From a server that supports ranges it fetches pieces; from others it streams the file, each time
 * from the beginning.
 * @throws MediaFailure
 */
export async function openMedia(
  dialler: Dialler,
  url: string,
  { readBy = READ_BY_NOBODY, ...limits }: OpenLimits,
): Promise<OpenedMedia> {
  const { bytesMax } = limits;
  const { sample, bytes } = await open(dialler, url, { ...limits, owner: readBy.owner });
  const { size } = bytes;
  try {
    if (size > bytesMax) throw tooLarge(bytesMax);
    const contentType = contentTypeOf(sample);
    const facts = await readFacts(readBy, { contentType, size }, bytes, sample);
    return {
      contentType,
      size,
      ...facts,
      ...(facts.image?.isAnimated ? { isMoving: true } : {}),
      version: bytes.version,
      read: (first, last) => bytes.read(first, last),
      chunks: () => bytes.chunks(),
      close: () => bytes.close(),
    };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

interface OwnedLimits extends Omit<OpenLimits, "readBy"> {
  readonly owner: string;
}

async function open(dialler: Dialler, url: string, limits: OwnedLimits): Promise<Opened> {
  const range = `bytes=0-${SAMPLE_BYTES - 1}`;
  const request = mediaRequest("GET", url, { range });
  const { url: address, answer } = await openResponse(dialler, request);
  if (answer.status === 206) return ranged({ dialler, url: address }, answer);
  if (answer.status === 200) return streamed({ dialler, url: address }, answer, limits);
  answer.cancel();
  throw unreachable(answer.status === 416 ? "empty" : `http_${answer.status}`);
}

async function ranged(file: RemoteFile, answer: OpenedResponse): Promise<Opened> {
  const total = /^bytes 0-\d+\/(\d+)$/.exec(answer.headers["content-range"] ?? "")?.[1];
  if (total === undefined) {
    answer.cancel();
    throw unreachable("its server states no size");
  }
  const { bytes: sample } = await takeUpTo(answer, SAMPLE_BYTES);
  const size = Number(total);
  if (sample.length < Math.min(size, SAMPLE_BYTES)) throw unreachable("connection_lost");
  return { sample, bytes: new RangedBytes(file, { size, version: versionOf(answer), sample }) };
}

async function streamed(
  file: RemoteFile,
  answer: OpenedResponse,
  { bytesMax, knownSize, owner }: OwnedLimits,
): Promise<Opened> {
  const length = answer.headers["content-length"] ?? knownSize;
  if (length === undefined) return held(answer, bytesMax, new HeldMemory(owner));
  const size = Number(length);
  const { bytes: sample } = await takeUpTo(answer, Math.min(SAMPLE_BYTES, size));
  if (sample.length < Math.min(size, SAMPLE_BYTES)) throw unreachable("connection_lost");
  return { sample, bytes: new StreamedBytes(file, { size, version: versionOf(answer), sample }) };
}

async function held(answer: OpenedResponse, bytesMax: number, memory: HeldMemory): Promise<Opened> {
  const limit = Math.min(bytesMax, HELD_BYTES_MAX);
  try {
    const { bytes, isWhole } = await takeUpTo(answer, limit, memory);
    if (isWhole) return { sample: bytes, bytes: new HeldBytes(bytes, memory) };
  } catch (error) {
    memory.release();
    throw error;
  }
  memory.release();
  throw bytesMax > limit ? unreachable("its server states no size") : tooLarge(limit);
}
