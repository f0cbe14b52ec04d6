import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

interface Stoppable {
  stop?(): Promise<unknown>;
  close?(): Promise<unknown>;
}

type Hook = (run: () => Promise<void>) => unknown;

/** Returns what `start` makes in one hook and the other hook stops or closes. A read before the start is an error. */
function between<T extends object>(start: () => Promise<T>, before: Hook, after: Hook): T {
  let made: (T & Stoppable) | undefined;
  before(async () => {
    made = await start();
  });
  after(async () => {
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

/** Starts something before the tests of a file or a describe, and stops it after them. */
export const forFile = <T extends object>(start: () => Promise<T>): T =>
  between(start, beforeAll, afterAll);

/** Starts something before each test of a file or a describe, and stops it after the test. */
export const forTest = <T extends object>(start: () => Promise<T>): T =>
  between(start, beforeEach, afterEach);
