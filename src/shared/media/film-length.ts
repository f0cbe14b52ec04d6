import { type Box, BoxedFile, type ReadBoxed } from "./boxes.ts";

/** A film in fragments without an index is read as a whole, if it isn't longer than this. */
const WALKED_BYTES_MAX = 4 * 1024 * 1024;

/** Reads a number of 4 or 8 bytes, by the version of its box. All bits are set when it is unknown. */
function numberAt(box: Buffer, at: number): number | undefined {
  const isLong = box[0] === 1;
  if (at + (isLong ? 8 : 4) > box.length) return undefined;
  if (!isLong) {
    const value = box.readUInt32BE(at);
    return value === 0xffff_ffff ? undefined : value;
  }
  const value = box.readBigUInt64BE(at);
  return value === 0xffff_ffff_ffff_ffffn ? undefined : Number(value);
}

/** Returns the time scale and the stated length of a `mvhd` or `mdhd` box. */
export function clockOf(box: Buffer): {
  readonly scale: number;
  readonly length: number | undefined;
} {
  const at = box[0] === 1 ? 20 : 12;
  return {
    scale: at + 4 <= box.length ? box.readUInt32BE(at) : 0,
    length: numberAt(box, at + 4),
  };
}

/** Returns the sum of the samples' times, in the track's time scale. */
function samplesLength(stts: Buffer): number {
  let sum = 0;
  const count = stts.length < 8 ? 0 : Math.min(stts.readUInt32BE(4), (stts.length - 8) >> 3);
  for (let index = 0; index < count; index += 1) {
    const at = 8 + index * 8;
    sum += stts.readUInt32BE(at) * stts.readUInt32BE(at + 4);
  }
  return sum;
}

interface Edit {
  /** In the movie's time scale. 0 means until the end. */
  readonly length: number;
  /** Where it begins in the track. -1 is a pause. */
  readonly from: number;
}

interface Track {
  readonly id: number;
  readonly kind: string;
  readonly scale: number;
  /** Length of its samples in seconds, or undefined when nothing tells. */
  readonly seconds: number | undefined;
  readonly edits: readonly Edit[];
}

function trackIn(film: BoxedFile, trak: Box): Track | undefined {
  const contentOf = (...path: readonly string[]) => {
    const box = film.find(trak, ...path);
    return box === undefined ? Buffer.alloc(0) : film.content(box);
  };
  const [tkhd, hdlr] = [contentOf("tkhd"), contentOf("mdia", "hdlr")];
  const { scale, length } = clockOf(contentOf("mdia", "mdhd"));
  if (scale === 0) return undefined;
  const idAt = tkhd[0] === 1 ? 20 : 12;
  // Recorders state the length in another time scale, so the samples count before the header.
  const samples = samplesLength(contentOf("mdia", "minf", "stbl", "stts")) || length;
  const elst = contentOf("edts", "elst");
  const isLong = elst[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  const count =
    elst.length < 8
      ? 0
      : Math.min(elst.readUInt32BE(4), Math.floor((elst.length - 8) / entryBytes));
  return {
    id: idAt + 4 <= tkhd.length ? tkhd.readUInt32BE(idAt) : 0,
    kind: hdlr.toString("latin1", 8, 12),
    scale,
    seconds: samples === undefined || samples === 0 ? undefined : samples / scale,
    edits: Array.from({ length: count }, (_, index) => {
      const at = 8 + index * entryBytes;
      return isLong
        ? {
            length: Number(elst.readBigUInt64BE(at)),
            from: Number(elst.readBigInt64BE(at + 8)),
          }
        : { length: elst.readUInt32BE(at), from: elst.readInt32BE(at + 4) };
    }),
  };
}

/** How much longer than its samples an edit may claim to be, because lengths are rounded. */
const EDIT_TOLERANCE = 1.1;
const EDIT_TOLERANCE_SECONDS = 1;

/** Returns how long a track is shown, by its edit list (ISO/IEC 14496-12, 8.6.6) as far as there are samples for it. */
function shownSeconds({ seconds, edits, scale }: Track, movieScale: number): number | undefined {
  if (edits.length === 0 || movieScale === 0) return seconds;
  let [shown, used] = [0, 0];
  for (const { length, from } of edits) {
    const rest = (seconds ?? 0) - from / scale;
    const part = length === 0 && from >= 0 ? Math.max(0, rest) : length / movieScale;
    shown += part;
    if (from >= 0) used += part;
  }
  const isBeyond =
    seconds !== undefined && used > seconds * EDIT_TOLERANCE + EDIT_TOLERANCE_SECONDS;
  return isBeyond || shown === 0 ? seconds : shown;
}

/** Returns the largest of the known lengths, or null. */
function longest(lengths: readonly (number | undefined)[]): number | null {
  const known = lengths.filter((length) => length !== undefined);
  return known.length === 0 ? null : Math.max(...known);
}

/** From when to when a fragment's samples play, by track, in the track's time scale. */
type Fragment = ReadonlyMap<number, { readonly from: number; readonly until: number }>;

function fragmentIn(
  film: BoxedFile,
  moof: Pick<Box, "start" | "end">,
  defaults: ReadonlyMap<number, number>,
): Fragment {
  const times = new Map<number, { readonly from: number; readonly until: number }>();
  for (const traf of film.boxes(moof.start, moof.end)) {
    if (traf.type !== "traf") continue;
    const parts = [...film.boxes(traf.start, traf.end)];
    const contentOf = (type: string) => {
      const box = parts.find((part) => part.type === type);
      return box === undefined ? Buffer.alloc(0) : film.content(box);
    };
    const [tfhd, tfdt] = [contentOf("tfhd"), contentOf("tfdt")];
    if (tfhd.length < 8) continue;
    const id = tfhd.readUInt32BE(4);
    const flags = tfhd.readUIntBE(1, 3);
    const durationAt = 8 + ((flags & 1) === 0 ? 0 : 8) + ((flags & 2) === 0 ? 0 : 4);
    const hasDefault = (flags & 8) !== 0 && durationAt + 4 <= tfhd.length;
    const each = hasDefault ? tfhd.readUInt32BE(durationAt) : (defaults.get(id) ?? 0);
    const from = numberAt(tfdt, 4) ?? 0;
    let until = from;
    for (const trun of parts)
      if (trun.type === "trun") until += runLength(film.content(trun), each);
    times.set(id, { from, until });
  }
  return times;
}

/** Returns the sum of the times of a run of samples. */
function runLength(trun: Buffer, each: number): number {
  if (trun.length < 8) return 0;
  const flags = trun.readUIntBE(1, 3);
  const count = trun.readUInt32BE(4);
  if ((flags & 0x100) === 0) return count * each;
  const start = 8 + ((flags & 1) === 0 ? 0 : 4) + ((flags & 4) === 0 ? 0 : 4);
  const entryBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length;
  let sum = 0;
  for (
    let index = 0, at = start;
    index < count && at + 4 <= trun.length;
    index += 1, at += entryBytes
  )
    sum += trun.readUInt32BE(at);
  return sum;
}

/** Returns the offsets of the last fragments, from the index at the end of the file (8.8.9 to 8.8.11). */
function lastFragments(film: BoxedFile): readonly number[] {
  const end = film.bytes(Math.max(0, film.size - 16), film.size);
  if (end.length < 16 || end.toString("latin1", 4, 8) !== "mfro") return [];
  const start = film.size - end.readUInt32BE(12);
  if (start < 0) return [];
  const offsets: number[] = [];
  for (const mfra of film.boxes(start, film.size))
    for (const box of mfra.type === "mfra" ? film.boxes(mfra.start, mfra.end) : []) {
      if (box.type !== "tfra") continue;
      const tfra = film.content(box);
      if (tfra.length < 16) continue;
      const [isLong, lengths, count] = [tfra[0] === 1, tfra[11] ?? 0, tfra.readUInt32BE(12)];
      const numbers = 3 + (lengths & 3) + ((lengths >> 2) & 3) + ((lengths >> 4) & 3);
      const entryBytes = (isLong ? 16 : 8) + numbers;
      const last = 16 + (count - 1) * entryBytes;
      if (count === 0 || last + entryBytes > tfra.length) continue;
      offsets.push(isLong ? Number(tfra.readBigUInt64BE(last + 8)) : tfra.readUInt32BE(last + 4));
    }
  return offsets;
}

/** Returns the sum of the segments of an index (8.16.3) in seconds, or undefined. */
function indexSeconds(sidx: Buffer): number | undefined {
  const at = sidx[0] === 1 ? 28 : 20;
  if (at + 4 > sidx.length) return undefined;
  const scale = sidx.readUInt32BE(8);
  const count = Math.min(sidx.readUInt16BE(at + 2), Math.floor((sidx.length - at - 4) / 12));
  let sum = 0;
  for (let index = 0; index < count; index += 1) sum += sidx.readUInt32BE(at + 8 + index * 12);
  return scale === 0 || sum === 0 ? undefined : sum / scale;
}

/** Returns the length of a film in fragments, if an index or its header tells, or if all of it may be read. */
function fragmentedSeconds(
  film: BoxedFile,
  {
    moov,
    mvex,
    tracks,
    movieScale,
  }: {
    readonly moov: Box;
    readonly mvex: Box;
    readonly tracks: readonly Track[];
    readonly movieScale: number;
  },
): number | null {
  const mehd = film.find(mvex, "mehd");
  const stated = mehd === undefined ? undefined : numberAt(film.content(mehd), 4);
  if (stated !== undefined && stated > 0 && movieScale > 0) return stated / movieScale;
  const defaults = new Map<number, number>();
  for (const box of film.boxes(mvex.start, mvex.end)) {
    const trex = box.type === "trex" ? film.content(box) : Buffer.alloc(0);
    if (trex.length >= 16) defaults.set(trex.readUInt32BE(4), trex.readUInt32BE(12));
  }
  const starts = new Map<number, number>();
  const lengths: number[] = [];
  /** Adds what a fragment says. The first one also tells when its tracks start, which isn't always at 0. */
  const add = (moof: Box | undefined): void => {
    if (moof?.type !== "moof") return;
    const fragment = fragmentIn(film, moof, defaults);
    for (const { id, scale } of tracks) {
      const times = fragment.get(id);
      if (times === undefined) continue;
      const start = starts.get(id) ?? times.from;
      starts.set(id, start);
      lengths.push((times.until - start) / scale);
    }
  };
  const last = lastFragments(film);
  for (const box of film.boxes(moov.end, film.size)) {
    const seconds = box.type === "sidx" ? indexSeconds(film.content(box)) : undefined;
    if (seconds !== undefined) return seconds;
    if (film.size > WALKED_BYTES_MAX && last.length === 0 && box.type === "mdat") return null;
    add(box);
    if (box.type === "moof" && last.length > 0) break;
  }
  for (const at of last) add(film.boxes(at, film.size).next().value);
  return longest(lengths);
}

const PLAYED: ReadonlySet<string> = new Set(["vide", "soun"]);

/**
 * Returns how many seconds a film plays, or null when nothing tells: by the edit lists of its tracks and the times of
 * their samples, since recorders and trimmers leave other lengths in its headers.
 */
export function filmSeconds(size: number, read: ReadBoxed): number | null {
  const film = new BoxedFile(size, read);
  const moov = film.find({ start: 0, end: size }, "moov");
  if (moov === undefined) return null;
  const mvhd = film.find(moov, "mvhd");
  const movie = mvhd === undefined ? { scale: 0, length: undefined } : clockOf(film.content(mvhd));
  const all: Track[] = [];
  for (const box of film.boxes(moov.start, moov.end)) {
    const track = box.type === "trak" ? trackIn(film, box) : undefined;
    if (track !== undefined) all.push(track);
  }
  const played = all.filter(({ kind }) => PLAYED.has(kind));
  const tracks = played.length > 0 ? played : all;
  const mvex = film.find(moov, "mvex");
  const own = longest(tracks.map((track) => shownSeconds(track, movie.scale)));
  const parts = { moov, mvex, tracks, movieScale: movie.scale };
  return mvex === undefined || own !== null ? own : fragmentedSeconds(film, { ...parts, mvex });
}
