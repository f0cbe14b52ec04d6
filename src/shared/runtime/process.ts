/** Tells the time. Tests have one of their own. */
export interface Clock {
  now(): Date;
}

type Callback = (endsAt: Date) => Promise<void>;

/** What runs before the process ends, when it gets a signal beforehand. */
export class Stop {
  readonly #callbacks = new Set<Callback>();
  #endsAt: Date | undefined;

  /** When the host will end the process; undefined until it gets the signal. */
  get endsAt(): Date | undefined {
    return this.#endsAt;
  }

  /** Calls the callback when the process is about to stop, at once if it already is. Returns a function to undo it. */
  before(callback: Callback): () => void {
    this.#callbacks.add(callback);
    // The host still starts work for a while after the signal.
    if (this.#endsAt !== undefined) void Promise.allSettled([callback(this.#endsAt)]);
    return () => void this.#callbacks.delete(callback);
  }

  /**
   * Runs all callbacks, because the process is about to stop. Waits for them and never rejects. Called again, the first
   * end stands.
   */
  async begin(endsAt: Date): Promise<void> {
    this.#endsAt ??= endsAt;
    const known = this.#endsAt;
    await Promise.allSettled([...this.#callbacks].map((callback) => callback(known)));
  }
}

/**
 * Returns the file of a child program: in the sources, it is beside the calling module; in a build, beside the bundle,
 * whose parts are in a folder below. `moduleUrl`: `import.meta.url` of the caller. `name`: the program's entry in the
 * build, without the file's ending.
 */
export function programFile(moduleUrl: string, name: string): URL {
  if (moduleUrl.endsWith(".ts")) return new URL(`./${name}.ts`, moduleUrl);
  const isPart = /\/parts\/[^/]+$/.test(moduleUrl);
  return new URL(`${isPart ? "../" : "./"}${name}.js`, moduleUrl);
}
