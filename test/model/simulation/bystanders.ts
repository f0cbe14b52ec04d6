import { newId } from "../../../src/shared/runtime/ids.ts";
import type { World } from "./hosts.ts";
import { createPlatform } from "./tenants.ts";

const PLATFORMS = 3_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Platforms that are active in every minute, and in whose midst the others must not be forgotten. */
export class Bystanders {
  readonly #world: World;
  readonly #ids: readonly string[];
  #timer: number | undefined;

  constructor(world: World) {
    this.#world = world;
    // Older than all others, and so listed before them.
    const at = new Date(world.nature.time.now - DAY_MS);
    this.#ids = Array.from({ length: PLATFORMS }, () => newId("platform", at));
  }

  /** From now on each of them is marked as having open work, every minute. */
  async start(): Promise<void> {
    const { observer, nature } = this.#world;
    const { clock } = observer.services;
    const { wakes } = observer.services.webhooks;
    for (const id of this.#ids) await createPlatform(observer.services, id, "bystander");
    const mark = async () => {
      const now = clock.now();
      await Promise.all(this.#ids.map((id) => wakes.mark("platform", id, now)));
    };
    await mark();
    this.#timer = nature.time.set(() => void mark(), MINUTE_MS, MINUTE_MS);
  }

  stop(): void {
    if (this.#timer !== undefined) this.#world.nature.time.clear(this.#timer);
  }
}
