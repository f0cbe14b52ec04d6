import type { Wallets } from "./core-operation.ts";
import { WalletStore } from "./wallet-store.ts";

/** Creates what changes the partitions of platforms. */
export const createWallets = (
  ...[core, ...given]: ConstructorParameters<typeof WalletStore>
): Wallets => new WalletStore(core, ...given);
