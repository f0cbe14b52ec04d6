import { describe } from "vitest";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { describeAccounts } from "./accounts.ts";
import { CONTRACTS, type NetworkContract } from "./contracts.ts";
import { startSandboxWorld } from "./sandbox-world.ts";

describe.each(NETWORK_NAMES)("the account at %s", (network) => {
  const contract: NetworkContract = CONTRACTS[network];
  describeAccounts(contract, (settings) => startSandboxWorld(network, contract, settings));
});
