/** A map of limited size that drops the entry that was not used for longest. */
export class RecentMap<Value> {
  readonly #sizeMax: number;
  readonly #values = new Map<string, Value>();

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Returns whether there is a value, which does not count as use. */
  has(key: string): boolean {
    return this.#values.has(key);
  }

  /** Returns the value, which counts as use. */
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

  /** Returns the values, the one that was not used for longest first. */
  values(): Iterable<Value> {
    return this.#values.values();
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
