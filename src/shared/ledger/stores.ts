import type { Tables } from "../runtime/storage/tables.ts";
import { LedgerStore } from "./ledger-store.ts";

export type LedgerStores = ReturnType<typeof createLedgerStores>;

/** Creates the store of wallets and ledgers. */
export const createLedgerStores = ({ core }: Tables) => ({ ledger: new LedgerStore(core) });
