import { AsyncLocalStorage } from "node:async_hooks";

// A request that writes is checked before its first write, and its access may be taken away while that write is under
// way. So it is checked again after the write: every way of taking access away raises the platform's access version
// before it is answered, and a version that is still the one read before the caller's rows shows that none was. Where the
// version differs, the access rule runs again on rows that are read now. If it refuses, the request undoes what it wrote.

const running = new AsyncLocalStorage<AccessCheck>();

/** Tries of undoing one write, in case storage doesn't answer. */
const UNDO_TRIES_MAX = 3;

type Undo = () => Promise<unknown>;

/** The second check of one request that writes. */
export class AccessCheck {
  readonly platformId: string;
  readonly #checkAgain: () => Promise<string>;
  readonly #undos: Undo[] = [];
  readonly #onceAllowed: (() => void)[] = [];
  #version: string | undefined;
  #state: "open" | "allowed" | "refused" | "over" = "open";

  /**
   * `version`: the access version before the caller's rows were read; undefined if it is not known. `checkAgain`: reads
   * the version and then checks the caller on rows that are read now; it returns that version.
   */
  constructor(platformId: string, version: string | undefined, checkAgain: () => Promise<string>) {
    this.platformId = platformId;
    this.#version = version;
    this.#checkAgain = checkAgain;
  }

  /** Whether the second check was made and refused the request. */
  get isRefused(): boolean {
    return this.#state === "refused";
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Runs a part of the request under this check. */
  run<Made>(part: () => Promise<Made>): Promise<Made> {
    return running.run(this, part);
  }

  /** Returns whether this version is the one under which the caller was checked. */
  fits(version: string | undefined): boolean {
    return version !== undefined && version === this.#version;
  }

  /** Ends the check: what was written so far came before any change that would refuse it. */
  allow(): void {
    if (this.#state !== "open") return;
    this.#state = "allowed";
    for (const run of this.#onceAllowed.splice(0)) run();
  }

  /** Checks the caller again on rows that are read now. @throws AppError what the access rule refuses with */
  async again(): Promise<void> {
    try {
      this.#version = await running.exit(this.#checkAgain);
    } catch (error) {
      this.#state = "refused";
      throw error;
    }
  }

  /** Ends the check of a request that failed for another reason: it undoes nothing. */
  giveUp(): void {
    if (this.#state !== "open") return;
    this.#state = "over";
    for (const run of this.#onceAllowed.splice(0)) run();
  }

  /** Undoes what the request wrote, the last write first. */
  async undo(): Promise<void> {
    for (const undo of this.#undos.splice(0).toReversed())
      await running.exit(() => untilDone(undo));
  }

  onRefusal(undo: Undo): void {
    if (this.isOpen) this.#undos.push(undo);
  }

  onceAllowed(run: () => void): void {
    this.#onceAllowed.push(run);
  }
}

async function untilDone(undo: Undo): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await undo();
      return;
    } catch (error) {
      if (tries === UNDO_TRIES_MAX) throw error;
    }
  }
}

/** Returns the check of the request under way, while it is open; of no other platform than the named one. */
export function openCheckOf(platformId: string): AccessCheck | undefined {
  const check = running.getStore();
  return check?.isOpen === true && check.platformId === platformId ? check : undefined;
}

/**
 * Says how to undo a write if the request under way is refused after it. To be called before the write, whose answer may
 * be lost. Outside such a request, and once it is certain that it is allowed, this does nothing.
 */
export function undoIfRefused(undo: Undo): void {
  running.getStore()?.onRefusal(undo);
}

/** Runs this once the request under way is known to be allowed; immediately if that is known, or nothing is checked. */
export function onceAllowed(run: () => void): void {
  const check = running.getStore();
  if (check?.isOpen === true) check.onceAllowed(run);
  else run();
}
