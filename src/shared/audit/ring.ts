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

const EVENTS_MAX = 1_000;

/** The latest events of this process. The durable record is the log. */
export class AuditRing {
  readonly #events: AuditEvent[] = [];

  add(event: AuditEvent): void {
    this.#events.push(event);
    if (this.#events.length > EVENTS_MAX) this.#events.shift();
  }

  /** Whether the same was done, by the same and with the same outcome, since then. */
  holdsLike({ actor, action, target, outcome }: AuditEvent, since: string): boolean {
    return this.#events.some(
      (known) =>
        known.at >= since &&
        known.action === action &&
        known.outcome === outcome &&
        known.actor.id === actor.id &&
        known.target?.id === target?.id,
    );
  }

  /** Newest first, at most `limit`; `after` is the id of the last event of the page before. */
  list(
    fits: (event: AuditEvent) => boolean,
    after: string | undefined,
    limit: number,
  ): { readonly items: readonly AuditEvent[]; readonly next: string | undefined } {
    const older = this.#events.filter(
      (event) => fits(event) && (after === undefined || event.id < after),
    );
    const items = older.slice(-limit).toReversed();
    return { items, next: older.length > limit ? items.at(-1)?.id : undefined };
  }
}
