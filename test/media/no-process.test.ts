import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { flag } from "./pictures.ts";

const READER = new URL("../../src/shared/media/media-reader.ts", import.meta.url).href;
const runtime = process.execPath;

afterEach(() => {
  process.execPath = runtime;
});

async function facts() {
  const bytes = await flag(60, 40).jpeg().toBuffer();
  const file = { contentType: "image/jpeg", size: bytes.length };
  return mediaReader.facts("owner", file, { pieces: [{ start: 0, bytes }], usedMs: 0 });
}

describe("where no process can read a file", () => {
  test("the file is not refused for it, and is read as soon as one can", async () => {
    for (const program of ["/bin/false", "/nowhere/node"]) {
      process.execPath = program;
      await expect(facts()).rejects.toMatchObject({ code: "media_unreachable" });
    }
    process.execPath = runtime;
    expect(await facts()).toMatchObject({ kind: "facts", facts: { width: 60 } });
  }, 180_000);

  test.skipIf(process.platform !== "linux")(
    "because all file descriptors are taken, the service lives on",
    () => {
      const program = `
        import { closeSync, openSync } from "node:fs";
        import { mediaReader } from ${JSON.stringify(READER)};
        const file = { contentType: "image/jpeg", size: 300_000 };
        const pieces = [{ start: 0, bytes: Buffer.from([255, 216, 255]) }];
        const facts = () => mediaReader.facts("owner", file, { pieces, usedMs: 0 });
        const taken = [];
        try { for (;;) taken.push(openSync("/dev/null", "r")); } catch { /* none is left */ }
        const refusal = await facts().catch(({ code }) => code);
        for (const one of taken) closeSync(one);
        // A start that failed is told later, too.
        await new Promise((done) => setTimeout(done, 200));
        const { kind } = await facts();
        process.stdout.write(refusal + " " + kind, () => process.exit());`;
      const limited = 'ulimit -n 128; exec "$@"';
      const node = [runtime, "--input-type=module", "-e", program];
      const printed = execFileSync("/bin/sh", ["-c", limited, "sh", ...node], {
        encoding: "utf8",
        timeout: 180_000,
      });
      expect(printed).toBe("media_unreachable facts");
    },
    40_000,
  );
});
