import type { FilmFacts } from "../networks/contract/media.ts";
import { type Box, BoxedFile, type ReadBoxed } from "./boxes.ts";
import { clockOf } from "./film-length.ts";

/** Sample entries of encrypted tracks (ISO/IEC 23001-7, 14496-12 8.12), and of those that Apple sold. */
const ENCRYPTED: ReadonlySet<string> = new Set(["encv", "enca", "enct", "encs", "drmi", "drms"]);
/** Length of a table's version and count, and of what a video's entry has before its boxes (14496-12, 8.5.2, 12.1.3). */
const TABLE_HEAD_BYTES = 8;
const VIDEO_HEAD_BYTES = 78;
/** Cuts below this come from encoders, which begin sound and pictures with a few samples that aren't shown. */
const CUT_SECONDS = 0.5;

interface TimedTrack {
  readonly trak: Box;
  /** Units of its clock in a second; 0 when it doesn't say. */
  readonly scale: number;
  readonly samples: number;
  /** Length of its samples; 0 when its clock isn't known. */
  readonly seconds: number;
}

/**
 * Reads facts of a film by which networks refuse it: whether it is encrypted, how its video is coded, and whether its
 * edit lists cut. What the file doesn't tell is null. Null for a file without an index of tracks.
 */
export function filmFacts(size: number, read: ReadBoxed): FilmFacts | null {
  const film = new BoxedFile(size, read);
  const moov = film.find({ start: 0, end: size }, "moov");
  if (moov === undefined) return null;
  const tracks = [...film.boxes(moov.start, moov.end)]
    .filter(({ type }) => type === "trak")
    .map((trak) => trackOf(film, trak));
  if (tracks.length === 0) return null;
  const isEncrypted = tracks.some(({ trak }) =>
    sampleEntriesOf(film, trak).some(({ type }) => ENCRYPTED.has(type)),
  );
  const [video] = tracks
    .filter(({ trak }) => isVideo(film, trak))
    .toSorted((one, other) => other.samples - one.samples);
  const isCut = tracks.some((track) => isCutTrack(film, moov, track));
  const coding = video === undefined ? NOT_KNOWN : codingOf(film, video.trak);
  return { isEncrypted, isCut, ...ratesOf(film, moov, video), ...coding };
}

const NOT_KNOWN = { chroma: null, h264Bits: null } as const;

function contentAt(film: BoxedFile, within: Box, ...path: readonly string[]): Buffer {
  const box = film.find(within, ...path);
  return box === undefined ? Buffer.alloc(0) : film.content(box);
}

const wordAt = (box: Buffer, at: number) => (at + 4 <= box.length ? box.readUInt32BE(at) : 0);

function sampleEntriesOf(film: BoxedFile, trak: Box): readonly Box[] {
  const table = film.find(trak, "mdia", "minf", "stbl", "stsd");
  return table === undefined ? [] : [...film.boxes(table.start + TABLE_HEAD_BYTES, table.end)];
}

const isVideo = (film: BoxedFile, trak: Box) =>
  contentAt(film, trak, "mdia", "hdlr").toString("latin1", 8, 12) === "vide";

function trackOf(film: BoxedFile, trak: Box): TimedTrack {
  const { scale } = clockOf(contentAt(film, trak, "mdia", "mdhd"));
  const times = contentAt(film, trak, "mdia", "minf", "stbl", "stts");
  let [samples, length] = [0, 0];
  for (let at = 8; at + 8 <= times.length; at += 8) {
    samples += times.readUInt32BE(at);
    length += times.readUInt32BE(at) * times.readUInt32BE(at + 4);
  }
  return { trak, scale, samples, seconds: scale === 0 ? 0 : length / scale };
}

/** Returns pictures and bits a second. A film in fragments states neither, except for a usual length of its pictures. */
function ratesOf(
  film: BoxedFile,
  moov: Box,
  video: TimedTrack | undefined,
): Pick<FilmFacts, "frameRate" | "bitRate"> {
  if (video === undefined) return { frameRate: null, bitRate: null };
  const { trak, scale, samples, seconds } = video;
  if (samples > 1 && seconds > 0) {
    const sizes = contentAt(film, trak, "mdia", "minf", "stbl", "stsz");
    const [each, count] = [wordAt(sizes, 4), wordAt(sizes, 8)];
    let bytes = each * count;
    if (each === 0)
      for (let at = 12; at + 4 <= sizes.length; at += 4) bytes += sizes.readUInt32BE(at);
    return { frameRate: samples / seconds, bitRate: bytes === 0 ? null : (bytes * 8) / seconds };
  }
  const header = contentAt(film, trak, "tkhd");
  const id = wordAt(header, header[0] === 1 ? 20 : 12);
  const extended = film.find(moov, "mvex");
  const usual = extended === undefined ? [] : [...film.boxes(extended.start, extended.end)];
  for (const box of usual) {
    const trex = box.type === "trex" ? film.content(box) : Buffer.alloc(0);
    const length = wordAt(trex, 12);
    if (wordAt(trex, 4) === id && length > 0 && scale > 0)
      return { frameRate: scale / length, bitRate: null };
  }
  return { frameRate: null, bitRate: null };
}

const CHROMA = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"] as const;

/** Reads how the colors of an H.264 or HEVC video are coded (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1). */
function codingOf(film: BoxedFile, trak: Box): Pick<FilmFacts, "chroma" | "h264Bits"> {
  const [entry] = sampleEntriesOf(film, trak);
  if (entry === undefined) return NOT_KNOWN;
  const boxes = [...film.boxes(entry.start + VIDEO_HEAD_BYTES, entry.end)];
  const contentOf = (wanted: string) => {
    const box = boxes.find(({ type }) => type === wanted);
    return box === undefined ? undefined : film.content(box);
  };
  const hevc = contentOf("hvcC");
  if (hevc !== undefined && hevc.length > 16)
    return { chroma: CHROMA[(hevc[16] ?? 1) & 3] ?? null, h264Bits: null };
  const avc = contentOf("avcC");
  return avc === undefined || avc.length < 7 ? NOT_KNOWN : h264Coding(avc);
}

/** Profiles whose record says how colors are coded, if its program follows the newer edition. */
const HIGH_PROFILES: readonly number[] = [100, 110, 122, 244];

function h264Coding(avc: Buffer): Pick<FilmFacts, "chroma" | "h264Bits"> {
  const profile = avc[1] ?? 0;
  let at = 5;
  for (const mask of [31, 255]) {
    const count = (avc[at] ?? 0) & mask;
    at += 1;
    for (let index = 0; index < count && at + 2 <= avc.length; index += 1)
      at += 2 + avc.readUInt16BE(at);
  }
  if (HIGH_PROFILES.includes(profile) && at + 2 <= avc.length)
    return { chroma: CHROMA[(avc[at] ?? 1) & 3] ?? null, h264Bits: 8 + ((avc[at + 1] ?? 0) & 7) };
  const chroma = profile === 122 ? "4:2:2" : profile === 244 ? "4:4:4" : "4:2:0";
  return { chroma, h264Bits: profile === 110 || profile === 122 ? 10 : 8 };
}

/** Reports whether a track's edit list (14496-12, 8.6.6) leaves out more of it than encoders do, or shows it in parts. */
function isCutTrack(
  film: BoxedFile,
  moov: Box,
  { trak, scale, seconds: whole }: TimedTrack,
): boolean {
  const list = contentAt(film, trak, "edts", "elst");
  const { scale: movieScale } = clockOf(contentAt(film, moov, "mvhd"));
  if (list.length < 8 || scale === 0 || movieScale === 0) return false;
  const isLong = list[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  let [shown, parts, first] = [0, 0, 0];
  for (let at = 8; at + entryBytes <= list.length; at += entryBytes) {
    const length = isLong ? Number(list.readBigUInt64BE(at)) : list.readUInt32BE(at);
    const from = isLong ? Number(list.readBigInt64BE(at + 8)) : list.readInt32BE(at + 4);
    if (from < 0) continue;
    if (parts === 0) first = from / scale;
    parts += 1;
    shown += length === 0 ? Math.max(0, whole - from / scale) : length / movieScale;
  }
  if (parts === 0) return false;
  return parts > 1 || first > CUT_SECONDS || (whole > 0 && whole - shown > CUT_SECONDS);
}
