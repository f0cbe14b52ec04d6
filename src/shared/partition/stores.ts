import type { Wallets } from "./operation.ts";
import { WalletStore } from "./partition-store.ts";

/** Creates what changes the partitions of platforms. */
export const createWallets = (
  ...[core, ...given]: ConstructorParameters<typeof WalletStore>
): Wallets => new WalletStore(core, ...given);
