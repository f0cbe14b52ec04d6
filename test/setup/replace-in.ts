/**
 * Gives a part of a process other methods in the place of some, which may call the former ones. All that has the part
 * sees them, however it came by it: verbs, stores and other modules.
 */
export function replaceIn<Part extends object>(
  part: Part,
  make: (former: Part) => Partial<Part>,
): void {
  const own = { ...part };
  const former = new Proxy(part, {
    get(target, name) {
      // Its own fields are out of a proxy's reach.
      const value: unknown = Object.hasOwn(own, name)
        ? Reflect.get(own, name)
        : Reflect.get(Object.getPrototypeOf(target) as object, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  Object.assign(part, make(former));
}

type Around = (name: string, run: () => Promise<unknown>) => Promise<unknown>;

/** Runs every method of a store within something else. */
export function runAround(store: object, around: Around): void {
  replaceIn<Record<string, unknown>>(store as never, (former) =>
    Object.fromEntries(
      Object.getOwnPropertyNames(Object.getPrototypeOf(store))
        .filter((name) => name !== "constructor" && typeof former[name] === "function")
        .map((name) => {
          const method = former[name] as (...given: unknown[]) => Promise<unknown>;
          return [name, (...given: unknown[]) => around(name, async () => method(...given))];
        }),
    ),
  );
}
