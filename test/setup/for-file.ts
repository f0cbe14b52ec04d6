import { afterAll, beforeAll } from "vitest";

interface Stoppable {
  stop?(): Promise<unknown>;
  close?(): Promise<unknown>;
}

/**
 * Returns what `start` makes before the tests of a file or a describe. Afterwards it is stopped or closed, where it can
 * be. A read before the start is an error.
 */
export function forFile<T extends object>(start: () => Promise<T>): T {
  let made: (T & Stoppable) | undefined;
  beforeAll(async () => {
    made = await start();
  });
  afterAll(async () => {
    if (made?.stop !== undefined) await made.stop();
    else await made?.close?.();
  });
  const now = (): T => {
    if (made === undefined) throw new Error("it is not started yet");
    return made;
  };
  return new Proxy<T>(Object.create(null), {
    get: (_, name) => Reflect.get(now(), name) as unknown,
    set: (_, name, value) => Reflect.set(now(), name, value),
    has: (_, name) => Reflect.has(now(), name),
    ownKeys: () => Reflect.ownKeys(now()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(now(), name),
  });
}
