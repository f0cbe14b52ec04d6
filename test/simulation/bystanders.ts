import { inverted, newId, timeOfId } from "../../src/shared/runtime/ids.ts";
import type { World } from "./hosts.ts";

const PLATFORMS = 3_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const ROWS_OF_TRANSACTION = 100;

/** Platforms that are active in every minute, and in whose midst the others must not be forgotten. */
export class Bystanders {
  readonly #world: World;
  readonly #ids: readonly string[];
  #timer: number | undefined;

  constructor(world: World) {
    this.#world = world;
    // Older than everybody else, and so in front of them wherever platforms are listed.
    const at = new Date(world.nature.time.now - DAY_MS);
    this.#ids = Array.from({ length: PLATFORMS }, () => newId("platform", at));
  }

  #put(table: string, partitionKey: string, rowKeys: readonly string[]): void {
    const { model } = this.#world;
    model.createTable(table);
    const actions = rowKeys.map((rowKey) => ({ kind: "put", rowKey, properties: {} }) as const);
    for (let start = 0; start < actions.length; start += ROWS_OF_TRANSACTION)
      model.transact(table, partitionKey, actions.slice(start, start + ROWS_OF_TRANSACTION));
  }

  /** From now on each of them is marked as having open work, every minute. */
  start(): void {
    const { time } = this.#world.nature;
    const index = this.#ids.map((id) => `${inverted(timeOfId("platform", id))}|${id}`);
    this.#put("core", "platforms", index);
    const mark = () => {
      const minute = new Date(time.now - (time.now % MINUTE_MS)).toISOString();
      this.#put("dirty", minute, this.#ids);
    };
    mark();
    this.#timer = time.set(mark, MINUTE_MS, MINUTE_MS);
  }

  stop(): void {
    if (this.#timer !== undefined) this.#world.nature.time.clear(this.#timer);
  }
}
