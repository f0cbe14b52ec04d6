import { unreachable } from "../networks/contract/unreachable.ts";
import { FairLimit } from "../runtime/fair-limit.ts";

const MEGABYTE = 1024 * 1024;

/**
 * The memory that customers' files may take in this process, for any purpose. Images to be fitted wait for it. Probed
 * files don't wait, because a slow server would then delay the files of other customers. Child processes have slots of
 * their own (`media-reader.ts`): reading facts for a waiting caller must not wait for images that take 20 s.
 */
export const fileMemory = new FairLimit({
  capacity: 256 * MEGABYTE,
  perOwner: 128 * MEGABYTE,
  waitingMax: 64,
});

/** The memory of one file that is probed or whose server states no size. */
export class HeldMemory {
  readonly #owner: string;
  #bytes = 0;

  constructor(owner: string) {
    this.#owner = owner;
  }

  /** Reserves bytes, before they are stored. @throws MediaFailure when too many are in memory */
  take(bytes: number): void {
    if (!fileMemory.take(this.#owner, bytes)) throw unreachable("busy");
    this.#bytes += bytes;
  }

  /** Releases all bytes of the file. May be called again. */
  release(): void {
    fileMemory.giveBack(this.#owner, this.#bytes);
    this.#bytes = 0;
  }
}
