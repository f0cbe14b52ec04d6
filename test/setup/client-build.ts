import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Builds the TypeScript client, as `npm ci` does, so that nothing runs an earlier state of it. */
export async function buildClient(): Promise<void> {
  await run("npm", ["run", "--silent", "prepare"]);
}
