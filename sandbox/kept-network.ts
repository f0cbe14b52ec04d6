import { dumpMaps, restoreMaps } from "./kept-maps.ts";

/** A network whose state is one object, which can be made afresh, kept between starts and read back. */
export abstract class KeptNetwork<Shared extends { state: object }> {
  protected readonly shared: Shared;
  readonly #fresh: () => Shared["state"];

  constructor(shared: Shared, fresh: () => Shared["state"]) {
    this.shared = shared;
    this.#fresh = fresh;
  }

  reset(): void {
    this.shared.state = this.#fresh();
  }

  dump(): unknown {
    return dumpMaps(this.shared.state);
  }

  restore(dumped: unknown): void {
    this.shared.state = restoreMaps(dumped, this.#fresh());
  }
}
