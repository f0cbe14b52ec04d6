/** What the service does for one partition in a second; it may do more, and never promises to. */
const ENTITIES_PER_SECOND = 2_000;

/** Counts what each partition does in a second, as the service does that answers 503 above its target. */
export class PartitionLoad {
  readonly #seconds = new Map<string, { second: number; entities: number }>();

  /** Whether the partition does so many more now. What is refused costs nothing. */
  take(partition: string, entities: number, now: number): boolean {
    const second = Math.floor(now / 1_000);
    const load = this.#seconds.get(partition);
    if (load === undefined || load.second !== second) {
      this.#seconds.set(partition, { second, entities });
      return true;
    }
    if (load.entities + entities > ENTITIES_PER_SECOND) return false;
    load.entities += entities;
    return true;
  }
}
