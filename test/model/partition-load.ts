/** What the service does for one partition in a second; it may do more, and never promises to. */
const ENTITIES_PER_SECOND = 2_000;

interface Load {
  /** What the partition may still do at once. */
  left: number;
  at: number;
}

/** Counts what each partition does, as the service does that answers 503 above its target. */
export class PartitionLoad {
  readonly #loads = new Map<string, Load>();

  /** Whether the partition does so many more now: a second's worth after a rest. What is refused costs nothing. */
  take(partition: string, entities: number, now: number): boolean {
    const load = this.#loads.get(partition) ?? { left: ENTITIES_PER_SECOND, at: now };
    this.#loads.set(partition, load);
    const regained = ((now - load.at) * ENTITIES_PER_SECOND) / 1_000;
    load.left = Math.min(ENTITIES_PER_SECOND, load.left + Math.max(0, regained));
    load.at = Math.max(load.at, now);
    if (load.left < entities) return false;
    load.left -= entities;
    return true;
  }
}
