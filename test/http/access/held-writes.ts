import type { FatedCall } from "../../model/machine.ts";

/** What no request is about: rates, failed logins, and when a key was used. */
function isAside({ table, rowKeys }: FatedCall): boolean {
  return table === "ratewindows" || (table === "keys" && rowKeys[0] === "U");
}

/** Holds back one write of a process, until it is let go. */
export class HeldWrites {
  #left = 0;
  #reached: () => void = () => undefined;
  #released: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  /** Given to the process: what each of its writes waits for. */
  readonly of = (call: FatedCall): Promise<void> | undefined => {
    if (this.#left === 0 || isAside(call)) return undefined;
    this.#left -= 1;
    if (this.#left > 0) return undefined;
    this.#reached();
    return this.#released;
  };

  /** Holds the write with this number from now on, counted from 1. Resolves when it is there. */
  hold(number: number): Promise<void> {
    this.#left = number;
    const released = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    [this.#released, this.#release] = [released.promise, () => released.resolve()];
    this.#reached = () => reached.resolve();
    return reached.promise;
  }

  letGo(): void {
    this.#left = 0;
    this.#release();
  }
}
