import { readFileSync, readdirSync } from "node:fs";
import sharp from "sharp";
import { expect, test } from "vitest";
import { mediaReader } from "../../src/shared/media/media-reader.ts";

/** How many processes this one has started that read files. */
function readers(): number {
  const isReader = (pid: string) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "latin1");
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1");
      return status.includes(`PPid:\t${process.pid}\n`) && command.includes("reading-child");
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isReader(name)).length;
}

test.skipIf(process.platform !== "linux")(
  "images whose decoder takes most memory are fitted one after the other, no matter who sent them",
  async () => {
    const [width, height] = [3_400, 2_600];
    const background = { r: 200, g: 30, b: 60 };
    const made = sharp({ create: { width, height, channels: 3, background } });
    const bytes = await made.avif({ effort: 0 }).toBuffer();
    const image = { bytes, contentType: "image/avif", width, height };
    const target = {
      types: ["image/jpeg"],
      bytesMax: 1e6,
      plays: [],
      turnsByExif: false,
    };
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, readers());
    }, 20);
    const fits = ["one", "another"].map((owner) => mediaReader.fit(owner, image, target));
    for (const fitted of await Promise.all(fits))
      expect(fitted).toMatchObject({ contentType: "image/jpeg" });
    clearInterval(timer);
    expect(most).toBe(1);
  },
  30_000,
);
