import { afterAll, beforeAll } from "vitest";

/**
 * Returns what `start` makes before the tests of a file or a describe; it is stopped after them. A read before that is
 * an error.
 */
export function forFile<T extends object>(
  start: () => Promise<T>,
  stop: (made: T) => Promise<unknown> = () => Promise.resolve(),
): T {
  let made: T | undefined;
  beforeAll(async () => {
    made = await start();
  });
  afterAll(async () => {
    if (made !== undefined) await stop(made);
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
