/* The part of erasure that other folders use: closing platforms, and erasing them and profiles. */

export { closePlatform } from "./close-platform.ts";
export { continueErasures, hasDueErasure } from "./continue-erasures.ts";
export type { ErasureDeps } from "./deps.ts";
export { requestErasure } from "./request-erasure.ts";
export { createErasureStore } from "./stores.ts";
export { updatePlatform } from "./update-platform.ts";
