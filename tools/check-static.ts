import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** Scripts of package.json that read the sources and run none of them. */
const CHECKS = [
  "check:format",
  "check:lint",
  "check:infra",
  "check:types",
  "check:layers",
  "check:structure",
  "check:words",
  "check:names",
  "check:unused",
];

/** Runs a check to its end and prints its output in one piece. Returns whether it passed. */
async function run(check: string): Promise<boolean> {
  const child = spawn(`npm run --silent ${check} 2>&1`, {
    shell: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  const output = await text(child.stdout);
  const hasPassed = (await ended) === 0;
  process.stdout.write(`${hasPassed ? "Passed" : "Failed"}: npm run ${check}\n${output}`);
  return hasPassed;
}

const results = await Promise.all(CHECKS.map(run));
process.exitCode = results.every(Boolean) ? 0 : 1;
