import { describe } from "vitest";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { CONTRACTS, type NetworkContract } from "./contracts.ts";
import { describeWrongAnswers } from "./wrong-answers.ts";
import { startSandboxWorld } from "./sandbox-world.ts";

describe.each(NETWORK_NAMES)("%s", (network) => {
  const contract: NetworkContract = CONTRACTS[network];
  describeWrongAnswers(contract, () => startSandboxWorld(network, contract));
});
