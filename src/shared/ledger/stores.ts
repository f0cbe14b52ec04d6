import type { Tables } from "../runtime/storage/tables.ts";
import { LedgerStore } from "./ledger-store.ts";

export type BillingStores = ReturnType<typeof createBillingStores>;

/** Creates the store of ledgers. */
export const createBillingStores = ({ core }: Tables) => ({ ledger: new LedgerStore(core) });
