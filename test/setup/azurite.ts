import { startAzurite } from "../../dev/azurite.ts";
import type { Azurite } from "../../dev/azurite.ts";

/** One emulator for a whole test run: free ports, nothing kept. */
export function startTestAzurite(): Promise<Azurite> {
  return startAzurite({ inMemory: true });
}
