/** A text or sign of JSON. Numbers, words and white space in between have neither. An unclosed text ends at the end. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[{}[\],]/g;

interface Open {
  /** Names of an object so far. Undefined in a list. */
  readonly names: Set<string> | undefined;
  /** The name or the index of the value that is being read. */
  at: string | number;
  /** Whether the next text is a name rather than a value. */
  namesNext: boolean;
}

/**
 * Returns at most `max` paths of names that an object has more than once. `JSON.parse` uses the last value of such a
 * name and other readers the first, so a proxy may have checked another value than the one that counts.
 * @param text valid JSON
 */
export function duplicateKeys(text: string, max: number): readonly string[] {
  const repeated = new Set<string>();
  const open: Open[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const inside = open.at(-1);
    if (token === "{") open.push({ names: new Set(), at: "", namesNext: true });
    else if (token === "[") open.push({ names: undefined, at: 0, namesNext: false });
    else if (token === "}" || token === "]") open.pop();
    else if (inside === undefined) continue;
    else if (token === "," && typeof inside.at === "number") inside.at += 1;
    else if (token === ",") inside.namesNext = true;
    else if (inside.namesNext && inside.names !== undefined) {
      inside.namesNext = false;
      inside.at = String(JSON.parse(token));
      if (inside.names.has(inside.at)) repeated.add(open.map(({ at }) => at).join("."));
      inside.names.add(inside.at);
      if (repeated.size >= max) break;
    }
  }
  return [...repeated];
}
