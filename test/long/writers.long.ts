import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { inMemory } from "../media/in-memory.ts";
import { write, WRITTEN } from "../media/writers.ts";

const PROGRAM_MS_MAX = 180_000;
const AT = "https://files.example.test/file";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "written-"));
  // Some programs read what others wrote, and those may be missing.
  await cp(new URL("../media/written", import.meta.url), folder, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

test.each(WRITTEN)(
  "$name is $contentType as its program writes it today",
  async (file) => {
    await rm(join(folder, file.name), { force: true });
    if (!write(file, folder)) {
      // oxlint-disable-next-line no-console -- says what was not tried
      console.log(`${file.command[0]} is missing: ${file.name} was not written again`);
      return;
    }
    const bytes = await readFile(join(folder, file.name));
    const opened = await openMedia(inMemory(bytes), AT, { bytesMax: 100_000_000 });
    expect(opened.contentType).toBe(file.contentType);
  },
  PROGRAM_MS_MAX,
);
