import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { refusalReason } from "../../src/shared/networks/contract/media-check.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { inMemory } from "./in-memory.ts";

const caseFile = (name: string) => readFileSync(new URL(`cases/${name}`, import.meta.url));
const open = (bytes: Uint8Array) =>
  openMedia(inMemory(bytes), "https://files.example.test/film.mp4", { bytesMax: 100_000_000 });
const secondsOf = async (bytes: Uint8Array) => (await open(bytes)).durationSeconds;

/** Changes the numbers in all boxes of a type, at an offset behind the type's four letters. */
function changed(film: Buffer, box: string, at: number, values: readonly number[]): Buffer {
  const bytes = Buffer.from(film);
  for (let index = film.indexOf(box); index >= 0; index = film.indexOf(box, index + 4))
    for (const [place, value] of values.entries())
      bytes.writeUInt32BE(value, index + 4 + at + place * 4);
  return bytes;
}
const renamed = (film: Buffer, box: string, name = "free") =>
  Buffer.from(film.toString("latin1").replaceAll(box, name), "latin1");

const recorder = caseFile("recorder.mp4");
const trimmed = caseFile("trimmed.mp4");
const fragmented = caseFile("fragmented.mp4");
/** Its index at the end has the fragments' offsets. */
const withoutIndex = fragmented.subarray(0, fragmented.indexOf("mfra") - 4);
const UNKNOWN = 0xffff_ffff;

/** Puts a box with the stated length of all fragments instead of the first one that says what is usual in them. */
const withStatedLength = (seconds: number) => {
  const film = renamed(withoutIndex, "trex", "mehd");
  return changed(film, "mehd", 4, [seconds * 1_000]);
};

describe("the length of a film is what is shown of it", () => {
  test.each<readonly [string, Buffer, number | null]>([
    ["a header in another time scale, as recorders write it", recorder, 8],
    ["the same without an edit list", renamed(recorder, "edts"), 8],
    ["20 of 100 seconds, as trimmers leave it", trimmed, 20],
    ["the same with headers that say 100", changed(trimmed, "mvhd", 16, [100_000]), 20],
    ["an edit until the end", changed(trimmed, "elst", 8, [0]), 95],
    ["an edit of more than there is", changed(trimmed, "elst", 8, [900_000]), 100],
    ["a pause before the film", changed(trimmed, "elst", 8, [20_000, UNKNOWN]), 20],
    ["no edit list", renamed(trimmed, "edts"), 100],
    ["samples without times", renamed(renamed(trimmed, "edts"), "stts"), 100],
    [
      "samples without times, and no stated length",
      changed(renamed(renamed(trimmed, "edts"), "stts"), "mdhd", 16, [UNKNOWN]),
      null,
    ],
    ["fragments with an index", fragmented, 8],
    ["fragments without an index", withoutIndex, 8],
    ["fragments of a stated length", withStatedLength(33), 33],
  ])("%s", async (_name, film, seconds) => {
    const found = await secondsOf(film);
    if (seconds === null) expect(found).toBeNull();
    else expect(Math.floor(found ?? 0)).toBe(seconds);
  });

  test("decides whether a network takes the film", async () => {
    const linkedin = networkOf("linkedin").media?.({ text: "", media: [], options: {} }, {});
    if (linkedin === undefined) throw new Error("LinkedIn takes films");
    expect(refusalReason(await open(recorder), linkedin)).toBeUndefined();
  });

  test("the frame of pixels that are not square is as it is shown", async () => {
    expect(await open(caseFile("oblong-pixels.mp4"))).toMatchObject({ width: 1_024, height: 576 });
  });
});
