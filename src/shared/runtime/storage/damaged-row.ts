import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";

interface Damage {
  readonly kind: string;
  readonly rowKey: string;
  readonly column: string;
  /** What is wrong with the column, without its value. */
  readonly reason: string;
  /** Whether a later build has written it. The default is no. */
  readonly isNewer?: boolean;
}

/** Gets a message each time a damaged row is read. */
const FOUND = channel("relay:damaged-row");

/**
 * A stored row that can't be decoded. It is never treated as absent: a read of it fails, a list leaves it out, and a
 * walk over many rows continues with the next one.
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

/**
 * A row that a later build has written. It needs a feature that this build lacks, or has a value that this build
 * doesn't know. Workers leave it alone, as they do with damaged rows, and requests for it are answered with 503.
 */
export class NewerRow extends DamagedRow {
  constructor(damage: Omit<Damage, "isNewer">) {
    super({ ...damage, isNewer: true });
    this.name = "NewerRow";
  }
}

/** Calls `report` for every damaged row that is read from now on. Returns a function that stops this. */
export function onDamagedRow(report: (damage: Damage) => void): () => void {
  // Safe: nothing else is published on this channel.
  const listener = (message: unknown) => report(message as Damage);
  subscribe(FOUND.name, listener);
  return () => void unsubscribe(FOUND.name, listener);
}

/** Returns the result of `read`, or undefined when it meets a damaged row that may be left out. By default any may. */
export function unlessDamaged<T>(
  read: () => T,
  mayBeLeftOut: (row: DamagedRow) => boolean = () => true,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedRow && mayBeLeftOut(error)) return undefined;
    throw error;
  }
}

/** Works like `unlessDamaged` for damaged rows only. @throws NewerRow when a later build can read the row */
export function unlessBroken<T>(read: () => T): T | undefined {
  return unlessDamaged(read, (row) => !(row instanceof NewerRow));
}

/** Waits for a read. The result is undefined when the row is damaged. */
export async function undefinedIfDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DamagedRow) return undefined;
    throw error;
  }
}
