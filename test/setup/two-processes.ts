import { afterAll, beforeAll } from "vitest";
import { startRelay, type Relay } from "./relay.ts";

/**
 * Starts two processes of one deployment before the tests of a file, and stops them after those. `keep` is handed both
 * as soon as they are up.
 */
export function useTwoProcesses(
  keep: (started: { readonly relay: Relay; readonly instance: Relay }) => void,
  settings: Readonly<Record<string, string>> = {},
): void {
  let relay: Relay | undefined;
  let instance: Relay | undefined;
  beforeAll(async () => {
    relay = await startRelay({ settings });
    instance = await startRelay({ sameDeploymentAs: relay });
    keep({ relay, instance });
  });
  afterAll(async () => {
    await instance?.stop();
    await relay?.stop();
  });
}
