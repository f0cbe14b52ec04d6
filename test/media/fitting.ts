import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import type { ImageTarget } from "../../src/shared/networks/contract/media.ts";
import { watchThread } from "../setup/blocked.ts";
import { inMemory } from "./in-memory.ts";
import { noisePng } from "./pictures.ts";

/** A process of its own that fits two of the largest images at once, and tells what that took of it. */
const TARGET: ImageTarget = {
  types: ["image/jpeg"],
  bytesMax: 2_000_000,
  plays: [],
  turnsByExif: false,
};

/** 51 MB of noise, which is the worst for a decoder and for an encoder: close below the 50 MiB that are taken. */
const image = await noisePng(4_200, 4_100);
const rss = () => process.memoryUsage().rss;
const before = rss();
let most = before;
const timer = setInterval(() => (most = Math.max(most, rss())), 5);
const thread = watchThread();
const fitted = await Promise.all(
  ["one", "two"].map(async (name) => {
    const file = await openMedia(inMemory(image), `https://files.example.test/${name}`, {
      bytesMax: 100_000_000,
    });
    return (await fitImage(file, TARGET)).bytes.length;
  }),
);
const blockedMs = thread.end();
clearInterval(timer);
process.stdout.write(JSON.stringify({ size: image.length, fitted, before, most, blockedMs }));
