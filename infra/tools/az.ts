import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/** Roles that were just assigned take minutes to arrive. */
const PATIENCE_SECONDS = 600;
const PAUSES = 40;

/** The Azure CLI ended with an error; the message is what it said. */
export class AzFailure extends Error {
  /** Whether a right was missing, which may be on its way. */
  get isForbidden(): boolean {
    return /forbidden|AuthorizationFailed|AccessDenied/i.test(this.message);
  }
}

/**
 * Runs the Azure CLI and returns what it prints. Secrets travel by its input and output alone: a command line is seen by
 * everybody on the machine.
 * @throws AzFailure when it ends with an error
 */
export async function az(args: readonly string[], input = ""): Promise<string> {
  const child = spawn("az", args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // The CLI may end without reading its input; its status tells.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [output, said, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (status === 0) return output.trim();
  throw new AzFailure(`az ${args.slice(0, 3).join(" ")} ended with ${status}: ${said.trim()}`);
}

/**
 * Asks until there is an answer, ten minutes at most (`VAULT_WAIT_SECONDS`), with a line that says what is waited for.
 * Returns the last answer, which may be undefined.
 */
export async function askPatiently<Answer>(
  waitingFor: string,
  ask: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const seconds = Number(process.env["VAULT_WAIT_SECONDS"] ?? PATIENCE_SECONDS);
  const deadline = Date.now() + seconds * 1000;
  let answer = await ask();
  if (answer === undefined) console.log(`waiting for ${waitingFor}`);
  while (answer === undefined && Date.now() < deadline) {
    await delay((seconds * 1000) / PAUSES);
    answer = await ask();
  }
  return answer;
}
