import { describe } from "vitest";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { CONTRACTS, type NetworkContract } from "./contracts.ts";
import { describeRefusals } from "./refusals.ts";
import { startSandboxWorld } from "./sandbox-world.ts";

describe.each(NETWORK_NAMES)("%s", (network) => {
  const contract: NetworkContract = CONTRACTS[network];
  describeRefusals(contract, () => startSandboxWorld(network, contract));
});
