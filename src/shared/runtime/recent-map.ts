/** A map of limited size. When it is full, it drops the entry that was not used for the longest time. */
export class RecentMap<Value> {
  readonly #sizeMax: number;
  readonly #values = new Map<string, Value>();

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Reports whether the map has the key. This doesn't count as a use. */
  has(key: string): boolean {
    return this.#values.has(key);
  }

  /** Returns the value. This counts as a use. */
  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    // A map lists its keys in the order in which they were added.
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#sizeMax) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }

  /** Returns the values, least recently used first. */
  values(): Iterable<Value> {
    return this.#values.values();
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
