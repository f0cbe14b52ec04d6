import { startSandbox } from "../../../sandbox/server.ts";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import { sandboxSettings } from "../../setup/sandbox-accounts.ts";
import type { NetworkContract } from "./contracts.ts";
import { sandboxStandIn } from "./stand-in.ts";
import { startWorld, type World } from "./world.ts";

/** A network of the sandbox and a relay before it, which go by one clock. */
export async function startSandboxWorld(
  network: NetworkName,
  contract: NetworkContract,
  settings: Readonly<Record<string, string>> = {},
): Promise<World> {
  let now = () => Date.now();
  const sandbox = await startSandbox({ now: () => now() });
  // It notices a repeat often, not always: nothing may lean on it.
  sandbox.networks.facebook.refuseDuplicates(false);
  const world = await startWorld({
    network,
    settings: { ...sandboxSettings(sandbox, sandbox.url), ...contract.settings, ...settings },
    standIn: sandboxStandIn(sandbox, network),
    onClock: (clock) => {
      now = clock;
    },
  });
  return {
    ...world,
    async stop() {
      await world.stop();
      await sandbox.stop();
    },
  };
}
