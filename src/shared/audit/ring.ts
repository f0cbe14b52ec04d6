import type { AuditEvent } from "./schema.ts";

/** An event, and the fields by which it is listed. */
export interface RingEntry {
  readonly event: AuditEvent;
  readonly profileId: string | null;
}

const EVENTS_MAX = 1_000;

/** Holds the latest events of this process. The log has all of them. */
export class AuditRing {
  readonly #events: RingEntry[] = [];

  /** Adds an event and drops the oldest when full. `profileId` is the profile that the event is about, if any. */
  add(event: AuditEvent, profileId: string | null): void {
    this.#events.push({ event, profileId });
    if (this.#events.length > EVENTS_MAX) this.#events.shift();
  }

  /** Reports whether the same caller has done the same with the same outcome since that time. */
  hasLike({ actor, action, target, outcome }: AuditEvent, since: string): boolean {
    return this.#events.some(
      ({ event: known }) =>
        known.at >= since &&
        known.action === action &&
        known.outcome === outcome &&
        known.actor.id === actor.id &&
        known.target?.id === target?.id,
    );
  }

  /** Lists at most `limit` events, newest first. `after` is the id of the last event of the previous page. */
  list(
    fits: (entry: RingEntry) => boolean,
    after: string | undefined,
    limit: number,
  ): { readonly items: readonly AuditEvent[]; readonly next: string | undefined } {
    const older = this.#events
      .filter((entry) => fits(entry) && (after === undefined || entry.event.id < after))
      .map(({ event }) => event);
    const items = older.slice(-limit).toReversed();
    return { items, next: older.length > limit ? items.at(-1)?.id : undefined };
  }
}
