import { afterAll, beforeAll } from "vitest";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { startRelay, type Relay } from "./relay.ts";
import { sandboxSettings } from "./sandbox-accounts.ts";

interface SandboxedRelay {
  readonly sandbox: Sandbox;
  readonly relay: Relay;
}

/**
 * Starts the sandbox and a relay on it, with queues of its own, before the tests of a file, and stops them after those.
 * `keep` is handed both as soon as they are up; `settings` come on top of the sandbox's.
 */
export function useSandboxedRelay(
  keep: (started: SandboxedRelay) => void,
  settings: Readonly<Record<string, string>> = {},
) {
  let sandbox: Sandbox;
  let relay: Relay | undefined;
  beforeAll(async () => {
    sandbox = await startSandbox();
    relay = await startRelay({
      settings: { ...sandboxSettings(sandbox, sandbox.url), ...settings },
    });
    keep({ sandbox, relay });
  });
  afterAll(async () => {
    await relay?.stop();
    await sandbox?.stop();
  });
  return {
    /** The posts of all networks that have this in their text. */
    visible: (text: string) => sandbox.posts().filter((post) => post.text.includes(text)),
  };
}
