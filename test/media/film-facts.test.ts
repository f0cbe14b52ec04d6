import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { checkMediaFile } from "../../src/shared/media/probe-media.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { inMemory } from "./in-memory.ts";

const URL_OF_FILM = "https://files.example.test/film.mp4";
const caseFile = (name: string) => readFileSync(new URL(`cases/${name}`, import.meta.url));
const clip = readFileSync(new URL("../../sandbox/media/clip.mp4", import.meta.url));
const trimmed = caseFile("trimmed.mp4");
const fragmented = caseFile("fragmented.mp4");

/** Changes numbers behind the first occurrence of a box's four letters. */
function changed(film: Buffer, box: string, at: number, value: number): Buffer {
  const bytes = Buffer.from(film);
  bytes.writeUInt32BE(value, bytes.indexOf(box) + 4 + at);
  return bytes;
}
const renamed = (film: Buffer, box: string, name: string) =>
  Buffer.from(film.toString("latin1").replaceAll(box, name), "latin1");
/** Changes the profile in the record of an H.264 video, without what newer editions add behind it. */
function ofProfile(profile: number): Buffer {
  const bytes = Buffer.from(clip);
  bytes[bytes.indexOf("avcC") + 5] = profile;
  return bytes;
}
/** Makes all pictures of the clip last as long as this, in its time scale. */
const lasting = (film: Buffer, length: number) => changed(film, "stts", 12, length);
const open = (bytes: Uint8Array) => openMedia(inMemory(bytes), URL_OF_FILM, { bytesMax: 1e9 });

async function rulesOf(bytes: Uint8Array, name: NetworkName): Promise<string> {
  const network = networkOf(name);
  const draft = { text: "", media: [{ url: URL_OF_FILM, altText: null }], options: {} };
  const probe = await open(bytes);
  const targets = network.media?.(draft, {});
  if (targets === undefined) throw new Error(`${name} takes no files`);
  const problems = [
    ...checkMediaFile(network, targets, { probe, field: "mediaUrls", mediaIndex: 0 }),
    ...(network.checkFiles?.(draft, {}, [probe]) ?? []),
  ];
  return problems.map(({ rule }) => rule.split(".").slice(1).join(".")).join(" ");
}

describe("a film", () => {
  test.each([
    ["encv", renamed(clip, "avc1", "encv")],
    ["enca", renamed(clip, "mp4a", "enca")],
  ])("that is encrypted (%s) is refused by every network", async (_entry, film) => {
    for (const network of NETWORK_NAMES)
      expect(await rulesOf(film, network)).toContain("media.encrypted");
  });

  test("says how many pictures and bits a second it has", async () => {
    const { film, durationSeconds } = await open(clip);
    expect(durationSeconds).toBe(4);
    expect(film).toMatchObject({ frameRate: 30, chroma: "4:2:0", h264Bits: 8, isCut: false });
    expect(film?.bitRate).toBeGreaterThan(100_000);
    expect(film?.bitRate).toBeLessThan((clip.length * 8) / 4);
  });

  test("in fragments is taken, although it doesn't say them", async () => {
    expect((await open(fragmented)).film).toMatchObject({ isEncrypted: false, bitRate: null });
    expect(await rulesOf(fragmented, "instagram")).toBe("");
  });

  test.each<readonly [NetworkName, number, string]>([
    ["instagram", 22, "media.frameRate"],
    ["instagram", 23.976, ""],
    ["instagram", 60.02, ""],
    ["instagram", 61, "media.frameRate"],
    ["facebook", 23, "video.kind"],
    ["facebook", 60, ""],
    ["facebook", 144, "video.kind"],
    ["mastodon", 120, ""],
    ["mastodon", 144, "media.frameRate"],
    ["linkedin", 144, ""],
    ["bluesky", 144, ""],
  ])("on %s with %d pictures a second", async (network, rate, rules) => {
    const scale = clip.readUInt32BE(clip.indexOf("mdhd") + 16);
    const length = Math.round(scale / rate);
    // With more than usual in the same scale, the film becomes shorter than Instagram takes: it has no edit list then.
    const film = lasting(renamed(clip, "edts", "free"), length);
    const found = await rulesOf(film, network);
    expect(found.replace("media.duration", "").trim()).toContain(rules);
    if (rules === "") expect(found).not.toMatch(/frameRate|kind/);
  });

  test("of more than 25 megabits a second is refused by Instagram", async () => {
    const sizes = clip.indexOf("stsz");
    const count = clip.readUInt32BE(sizes + 12);
    // Each picture has as many bytes as make 26 megabits in its 4 seconds.
    const film = changed(clip, "stsz", 4, Math.ceil(26_000_000 / 2 / count));
    expect(await rulesOf(film, "instagram")).toContain("media.bitRate");
    expect(await rulesOf(film, "linkedin")).not.toContain("media.bitRate");
  });

  test.each<readonly [number, string]>([
    [100, ""],
    [122, "media.chroma media.depth"],
    [244, "media.chroma"],
  ])("of the H.264 profile %d on Instagram", async (profile, rules) => {
    const [record] = [clip.indexOf("avcC")];
    const film = ofProfile(profile);
    // The record says the chroma itself if it goes on behind its sets.
    const length = film.readUInt32BE(record - 4);
    let at = record + 9;
    for (const mask of [31, 255]) {
      const count = (film[at] ?? 0) & mask;
      at += 1;
      for (let index = 0; index < count; index += 1) at += 2 + film.readUInt16BE(at);
    }
    if (at + 2 <= record - 4 + length) {
      film[at] = 0xfc | ({ 100: 1, 122: 2, 244: 3 }[profile] ?? 1);
      film[at + 1] = 0xf8 | (profile === 122 ? 2 : 0);
    }
    expect(await rulesOf(film, "instagram")).toBe(rules);
  });

  test("that its edit list cuts is told about on Instagram", async () => {
    expect(await rulesOf(trimmed, "instagram")).toBe("media.editList");
    expect(await rulesOf(trimmed, "facebook")).toBe("");
    expect(await rulesOf(clip, "instagram")).toBe("");
  });
});
