type Callback = () => Promise<void>;

/** The end of the process, as far as it is told of it beforehand. */
export class Stop {
  readonly #callbacks = new Set<Callback>();
  #isAnnounced = false;

  /** Has the callback called when the process is told to stop, at once where it was. Returns the function that takes it back. */
  before(callback: Callback): () => void {
    this.#callbacks.add(callback);
    // A host hands out work for a while after that.
    if (this.#isAnnounced) void Promise.allSettled([callback()]);
    return () => void this.#callbacks.delete(callback);
  }

  /** The process is about to stop: whoever has something to write down does it now. */
  async announce(): Promise<void> {
    this.#isAnnounced = true;
    await Promise.allSettled([...this.#callbacks].map((callback) => callback()));
  }
}

/**
 * Returns where a program that the app starts beside itself lies: beside the module that asks, in the sources; in a
 * build, beside the bundle, of which the module is in a part, a folder below. `moduleUrl`: `import.meta.url` of the
 * module; `name`: of the program's file, without its ending, as an entry of the build.
 */
export function programFile(moduleUrl: string, name: string): URL {
  if (moduleUrl.endsWith(".ts")) return new URL(`./${name}.ts`, moduleUrl);
  const isPart = /\/parts\/[^/]+$/.test(moduleUrl);
  return new URL(`${isPart ? "../" : "./"}${name}.js`, moduleUrl);
}
