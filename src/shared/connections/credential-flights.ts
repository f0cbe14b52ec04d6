import type { NetworkData } from "../networks/contract/draft.ts";
import type { Rejected, TryLater } from "../networks/contract/outcome.ts";
import type { Connection } from "./connection.ts";

/** Joins calls for the same thing while one is under way, so that all get its outcome. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>();

  run(key: string, work: () => Promise<T>): Promise<T> {
    const joined = this.#flights.get(key);
    if (joined !== undefined) return joined;
    const flight = work().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }
}

interface UsableCredentials {
  readonly kind: "usable";
  readonly credentials: NetworkData;
  /** The connection as it is now. Its generation is that of the credentials. */
  readonly connection: Connection;
}
export type FreshCredentials = UsableCredentials | TryLater | Rejected;
