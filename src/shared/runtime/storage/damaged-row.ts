import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";

interface Damage {
  /** What the row is of, e.g. "wallet". */
  readonly kind: string;
  readonly rowKey: string;
  readonly column: string;
  /** What is wrong with the column; never its value. */
  readonly reason: string;
}

/** Every damaged row passes through it once for each time that it is read, whoever reads it. */
const FOUND = channel("relay:damaged-row");

/**
 * A row that was stored and can't be understood. Nobody may take it for an empty one: a read of it fails, a list leaves
 * it out, and whoever walks over many rows goes on with the next.
 */
export class DamagedRow extends Error {
  readonly damage: Damage;

  constructor(damage: Damage) {
    super(`a row of kind ${damage.kind} is damaged: ${damage.column} ${damage.reason}`);
    this.name = "DamagedRow";
    this.damage = damage;
    FOUND.publish(damage);
  }
}

/** Calls `report` for every damaged row that is read from now on. Answers what ends that. */
export function onDamagedRow(report: (damage: Damage) => void): () => void {
  // Safe: nothing else is published there.
  const hear = (message: unknown) => report(message as Damage);
  subscribe(FOUND.name, hear);
  return () => void unsubscribe(FOUND.name, hear);
}

/** What `read` makes of a row; undefined when the row is damaged. For lists, which leave it out. */
export function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedRow) return undefined;
    throw error;
  }
}

/** The same of a row that is being read. */
export async function undefinedIfDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DamagedRow) return undefined;
    throw error;
  }
}
