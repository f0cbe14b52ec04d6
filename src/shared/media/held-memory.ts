import { unreachable } from "../networks/contract/unreachable.ts";
import { FairLimit } from "../runtime/fair-limit.ts";

const MEGABYTE = 1024 * 1024;

/**
 * The memory for bytes of customers' files in this process, whatever they are read for. Images to be fitted wait for it.
 * Files that are probed don't: a slow server would delay those of other customers. Child processes have slots of their
 * own (`media-reader.ts`), since reading facts for a waiting caller must not wait for images that take 20 s.
 */
export const fileMemory = new FairLimit({
  capacity: 256 * MEGABYTE,
  perOwner: 128 * MEGABYTE,
  waitingMax: 64,
});

/** The memory of one file that is probed, or whose server states no size. */
export class HeldMemory {
  readonly #owner: string;
  #bytes = 0;

  constructor(owner: string) {
    this.#owner = owner;
  }

  /** Takes bytes; call it before they are kept. @throws MediaFailure when too many are in memory */
  take(bytes: number): void {
    if (!fileMemory.take(this.#owner, bytes)) throw unreachable("busy");
    this.#bytes += bytes;
  }

  /** Gives back all bytes of the file. Safe to repeat. */
  release(): void {
    fileMemory.giveBack(this.#owner, this.#bytes);
    this.#bytes = 0;
  }
}
