import type { Tables } from "../../src/shared/runtime/storage/tables.ts";
import { Machine, natureOf } from "./machine.ts";
import { tablesOver } from "./model-client.ts";
import { Random } from "./random.ts";
import { TableModel } from "./table-model.ts";
import { VirtualTime } from "./virtual-time.ts";

/** A process whose calls to storage take no time and never fail. */
class CalmMachine extends Machine {
  override call<T>(reach: () => T): Promise<T> {
    return Promise.resolve().then(reach);
  }
}

/** Tables of this process: the model that is held against the emulator, for tests that write a great deal. */
export function memoryTables(): Tables {
  const machine = new CalmMachine("test", natureOf(new VirtualTime(0), new Random(1)));
  return tablesOver(new TableModel(), machine);
}
