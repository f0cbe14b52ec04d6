import type { Partitions } from "./operation.ts";
import { WalletStore } from "./partition-store.ts";

/** Creates what changes the partitions of platforms. */
export const createPartitions = (
  ...[core, ...given]: ConstructorParameters<typeof WalletStore>
): Partitions => new WalletStore(core, ...given);
