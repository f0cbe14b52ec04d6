import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isOtherFilm, videoFacts } from "../../sandbox/media-facts.ts";

const written = (name: string) =>
  readFileSync(new URL(`../media/written/${name}`, import.meta.url));

test("the sandbox measures a film by what it shows, not by a longer track of time codes", () => {
  const film = Buffer.from(written("ffmpeg.mp4"));
  const { seconds } = videoFacts(film) ?? {};
  expect(seconds).toBeCloseTo(0.2, 1);
  // The film's own header has the longest of all tracks.
  film.writeUInt32BE(60_083, film.indexOf("mvhd") + 20);
  expect(videoFacts(film)?.seconds).toBe(seconds);
});

test("the sandbox counts the bits of a film's pictures and knows its profile", () => {
  const clip = readFileSync(new URL("../../sandbox/media/clip.mp4", import.meta.url));
  const { bitsPerSecond = 0, h264Profile } = videoFacts(clip) ?? {};
  expect(h264Profile).toBe(clip[clip.indexOf("avcC") + 5]);
  expect(bitsPerSecond).toBeGreaterThan(100_000);
  expect(bitsPerSecond).toBeLessThan((clip.length * 8) / 4);
});

test.each([
  "ffmpeg.mkv",
  "ffmpeg.webm",
  "ffmpeg.avi",
  "ffmpeg.flv",
  "ffmpeg.m2t",
  "ffmpeg.mpg",
  "ffmpeg.wmv",
])("the sandbox's Facebook knows %s as a film", (name) => {
  expect(isOtherFilm(written(name))).toBe(true);
});

test("the sandbox's Facebook knows pictures and documents as no films", () => {
  for (const name of ["ffmpeg.gif", "words.pdf", "ffmpeg.wav", "cwebp.webp"])
    expect(isOtherFilm(written(name))).toBe(false);
});
