const ENTRIES_MAX = 50_000;

/** Adds to a map that must not grow for ever: the oldest entry goes. */
export function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > ENTRIES_MAX) map.delete(oldest);
}

/** A state as JSON, with its maps as lists of entries. */
export function dumpMaps(state: object): unknown {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Map ? { entries: [...value] } : value,
    ]),
  );
}

/** Reads back what `dumpMaps` wrote; nothing else ever writes that file. What is new since then is as in `fresh`. */
export function restoreMaps<State extends object>(dumped: unknown, fresh: State): State {
  const plain = dumped as Record<string, unknown>;
  const restored = Object.entries(fresh).map(([name, value]: [string, unknown]) => {
    if (!(name in plain)) return [name, value];
    if (!(value instanceof Map)) return [name, plain[name]];
    return [name, new Map((plain[name] as { entries: [string, unknown][] }).entries)];
  });
  return Object.fromEntries(restored) as State;
}

/** What is kept under this key, or under every key when none is named. */
export function oneOrAll<Value>(
  entries: Iterable<readonly [string, Value]>,
  key: string | undefined,
): Value[] {
  return [...entries].flatMap(([known, value]) =>
    key === undefined || key === known ? [value] : [],
  );
}
