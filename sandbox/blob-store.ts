import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Oldest files go first beyond this, so that a load test can't fill the memory. */
const BYTES_MAX = 256 * 1024 * 1024;

/** Uploaded files by the SHA-256 of their bytes, in memory or in a folder. */
export class BlobStore {
  readonly #folder: string | undefined;
  readonly #held = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(folder?: string) {
    this.#folder = folder;
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      if (/^[0-9a-f]{64}$/.test(name)) this.#hold(name, readFileSync(join(folder, name)));
    }
  }

  put(bytes: Uint8Array): string {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (this.#held.has(sha256)) return sha256;
    if (this.#folder !== undefined) writeFileSync(join(this.#folder, sha256), bytes);
    this.#hold(sha256, bytes);
    return sha256;
  }

  get(sha256: string): Uint8Array | undefined {
    return this.#held.get(sha256);
  }

  clear(): void {
    for (const sha256 of this.#held.keys()) this.#drop(sha256);
  }

  #hold(sha256: string, bytes: Uint8Array): void {
    this.#held.set(sha256, bytes);
    this.#bytes += bytes.length;
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= BYTES_MAX || oldest === sha256) break;
      this.#drop(oldest);
    }
  }

  #drop(sha256: string): void {
    this.#bytes -= this.#held.get(sha256)?.length ?? 0;
    this.#held.delete(sha256);
    if (this.#folder === undefined) return;
    const file = join(this.#folder, sha256);
    if (existsSync(file)) rmSync(file);
  }
}
