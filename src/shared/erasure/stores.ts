import type { Tables } from "../runtime/storage/tables.ts";
import { ErasureStore } from "./erasure-store.ts";

export const createErasureStore = ({ erasures }: Tables) => new ErasureStore(erasures);
