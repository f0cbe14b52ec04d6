import { startSandbox } from "../../sandbox/server.ts";
import { forFile } from "./for-file.ts";
import { startRelay } from "./relay.ts";
import { sandboxSettings } from "./sandbox-accounts.ts";

/** Starts the sandbox and a relay on it before the tests of a file, and stops them after those. */
export function useSandboxedRelay(settings: Readonly<Record<string, string>> = {}) {
  const sandbox = forFile(() => startSandbox());
  const own = () => ({ ...sandboxSettings(sandbox, sandbox.url), ...settings });
  const relay = forFile(() => startRelay({ settings: own() }));
  /** The posts of all networks that have this in their text. */
  const visible = (text: string) => sandbox.posts().filter((post) => post.text.includes(text));
  return { sandbox, relay, visible };
}
