/** The time. Tests use a clock of their own. */
export interface Clock {
  now(): Date;
}

/** Returns the time so many milliseconds later. */
export const later = (time: Date, ms: number): Date => new Date(time.getTime() + ms);

/** Returns the time so many milliseconds ago. */
export const ago = (clock: Clock, ms: number): Date => later(clock.now(), -ms);

type Callback = (endsAt: Date) => Promise<void>;

/** Runs callbacks before the process ends, if the host announces the end with a signal. */
export class Stop {
  readonly #callbacks = new Set<Callback>();
  #endsAt: Date | undefined;

  /** When the host will end the process. It is undefined until the signal arrives. */
  get endsAt(): Date | undefined {
    return this.#endsAt;
  }

  /** Calls the callback when the process is about to stop. Returns a function that removes it again. */
  before(callback: Callback): () => void {
    this.#callbacks.add(callback);
    // The host still starts work for a while after the signal.
    if (this.#endsAt !== undefined) void Promise.allSettled([callback(this.#endsAt)]);
    return () => void this.#callbacks.delete(callback);
  }

  /**
   * Runs all callbacks because the process is about to stop, waits for them, and never rejects. A second call doesn't
   * change the time of the end.
   */
  async begin(endsAt: Date): Promise<void> {
    this.#endsAt ??= endsAt;
    const known = this.#endsAt;
    await Promise.allSettled([...this.#callbacks].map((callback) => callback(known)));
  }
}

/**
 * Returns the file of a child program. In the source tree it is next to the calling module; in a build it is next to
 * the bundle, whose chunks are in a folder below it.
 *
 * `moduleUrl` is the caller's `import.meta.url`, and `name` the program's entry in the build without its extension.
 */
export function programFile(moduleUrl: string, name: string): URL {
  if (moduleUrl.endsWith(".ts")) return new URL(`./${name}.ts`, moduleUrl);
  const isPart = /\/parts\/[^/]+$/.test(moduleUrl);
  return new URL(`${isPart ? "../" : "./"}${name}.js`, moduleUrl);
}
