import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxNetwork } from "./network.ts";

const SAVE_AFTER_MS = 250;

/** Keeps the networks' states in a folder, one JSON file each. */
export class SavedState {
  readonly #folder: string;
  readonly #networks: readonly SandboxNetwork[];
  #timer: NodeJS.Timeout | undefined;

  /** Reads what an earlier start left. Throws when a file is damaged: starting empty would lose it for good. */
  constructor(folder: string, networks: readonly SandboxNetwork[]) {
    this.#folder = folder;
    this.#networks = networks;
    mkdirSync(folder, { recursive: true });
    for (const network of networks) {
      const file = this.#file(network);
      if (!existsSync(file)) continue;
      try {
        network.restore(JSON.parse(readFileSync(file, "utf8")));
      } catch (cause) {
        throw new Error(`${file} can't be read; delete it to start afresh`, { cause });
      }
    }
  }

  changed(): void {
    this.#timer ??= setTimeout(() => this.save(), SAVE_AFTER_MS).unref();
  }

  save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const network of this.#networks) this.saveOne(network);
  }

  /** Saves one network's state before this returns, so that a killed process forgets nothing that it has answered. */
  saveOne(network: SandboxNetwork): void {
    const file = this.#file(network);
    // The accounts' tokens are in it, and a half-written file would be lost work.
    writeFileSync(`${file}.new`, JSON.stringify(network.dump()), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  #file(network: SandboxNetwork): string {
    return join(this.#folder, `${network.name}.json`);
  }
}
