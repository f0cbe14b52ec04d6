import type { ChildProcess } from "node:child_process";

/** Gathers all that the child says, on either stream; answers what it has said so far. */
export function outputOf({ stdout, stderr }: ChildProcess): () => string {
  let output = "";
  for (const stream of [stdout, stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  return () => output;
}
