import { AsyncLocalStorage } from "node:async_hooks";

// A request that writes is checked before its first write, and its access may be taken away while that write is under
// way. So the write that decides is an operation of the platform's partition, which compares the access version (see
// `partition/access-version.ts`). What is written before it, elsewhere, says nothing without it; what is written after it
// follows from it. A request without one is checked by a read.
//
// The check comes with the request: as an argument, over a hundred functions would take it only to pass it on. So no verb
// can leave it out.

const running = new AsyncLocalStorage<AccessCheck>();

/** How to check a caller again. */
interface AccessToCheck {
  readonly platformId: string;
  /** The access version before the caller's rows were read; undefined if it is not known. */
  readonly version: string | undefined;
  /** Reads the stored access version. */
  readVersion(): Promise<string>;
  /** Checks the caller on fresh rows. @throws AppError of the access rule when it refuses */
  resolve(): Promise<void>;
}

/** The second check of one request that writes. */
export class AccessCheck {
  readonly #access: AccessToCheck;
  readonly #onceAllowed: (() => void)[] = [];
  #version: string | undefined;
  #isOpen = true;

  constructor(access: AccessToCheck) {
    this.#access = access;
    this.#version = access.version;
  }

  isOpenFor(platformId: string): boolean {
    return this.#isOpen && this.#access.platformId === platformId;
  }

  run<Made>(part: () => Promise<Made>): Promise<Made> {
    return running.run(this, part);
  }

  /** Reports whether this is the version under which the caller was checked. */
  fits(version: string): boolean {
    return version === this.#version;
  }

  /** Ends the check, because the request's write is decided or the request has failed for another reason. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const run of this.#onceAllowed.splice(0)) run();
  }

  /** Checks the caller again on fresh rows. @throws AppError of the access rule when it refuses */
  async again(): Promise<void> {
    try {
      this.#version = await running.exit(async () => {
        const version = await this.#access.readVersion();
        await this.#access.resolve();
        return version;
      });
    } catch (error) {
      this.#isOpen = false;
      throw error;
    }
  }

  /**
   * Makes the check, unless an operation has made it. Call it before a write that is no operation, and at the end of a
   * request that has written nothing.
   * @throws AppError of the access rule when it refuses
   */
  async requireAccess(): Promise<void> {
    if (!this.#isOpen) return;
    if (!this.fits(await this.#access.readVersion())) await this.again();
    this.end();
  }

  /** Runs this once the request is known to be allowed. */
  onceAllowed(run: () => void): void {
    if (this.#isOpen) this.#onceAllowed.push(run);
    else run();
  }
}

/** Returns the check of the current request while it is open, if it is for this platform. */
export function openCheckOf(platformId: string): AccessCheck | undefined {
  const check = running.getStore();
  return check?.isOpenFor(platformId) === true ? check : undefined;
}

/** Calls `run` once the current request is known to be allowed: now, if that is known or nothing is checked. */
export function onceAllowed(run: () => void): void {
  const check = running.getStore();
  if (check === undefined) run();
  else check.onceAllowed(run);
}
