import type { Actor } from "../callers/caller.ts";

export interface AuditTarget {
  readonly type: string;
  readonly id: string;
}

export interface AuditEvent {
  readonly id: string;
  readonly at: string;
  readonly actor: Actor;
  /** `<thing>.<what was done>`, e.g. `api_key.revoked`. */
  readonly action: string;
  readonly target: AuditTarget | null;
  readonly platformId: string | null;
  readonly applicationId: string | null;
  readonly outcome: "ok" | "denied";
  readonly ip: string;
  readonly requestId: string;
}

/** What an event is listed by, beside what it shows. */
export interface RingEntry {
  readonly event: AuditEvent;
  readonly profileId: string | null;
}

const EVENTS_MAX = 1_000;

/** The latest events of this process. The durable record is the log. */
export class AuditRing {
  readonly #events: RingEntry[] = [];

  /** Adds an event; the oldest goes when there are too many. `profileId`: the profile that it is about, if any. */
  add(event: AuditEvent, profileId: string | null): void {
    this.#events.push({ event, profileId });
    if (this.#events.length > EVENTS_MAX) this.#events.shift();
  }

  /** Tells whether the same caller did the same with the same outcome since then. */
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

  /** Lists events, newest first, at most `limit`; `after` is the id of the last event of the page before. */
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
