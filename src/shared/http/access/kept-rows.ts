/** Rows older than this are read again, for changes that nobody waits for, such as an account found expired. */
const AGE_MS_MAX = 30_000;

/** How much is kept. A row counts with the length of its JSON. */
const LIMITS = {
  rows: 20_000,
  characters: 16 * 1024 * 1024,
  rowsOfPlatform: 1_000,
  charactersOfPlatform: 1024 * 1024,
};

interface Kept {
  readonly value: unknown;
  readonly readAt: number;
  readonly characters: number;
}

interface OfPlatform {
  readonly version: string;
  readonly rows: Map<string, Kept>;
  characters: number;
}

/** What was kept of a platform under one access version. */
export interface KeptOfPlatform {
  readonly version: string;
  find(name: string): { readonly value: unknown } | undefined;
}

/**
 * Keeps rows that requests were checked against, under the platform's access version that was read before them. Bounded
 * in number and size, of all platforms and of each; those of the platform that was not used for longest go first.
 */
export class KeptRows {
  readonly #limits: typeof LIMITS;
  readonly #platforms = new Map<string, OfPlatform>();
  #rows = 0;
  #characters = 0;

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** How many rows are kept, and how long they are together. */
  get size(): { readonly rows: number; readonly characters: number } {
    return { rows: this.#rows, characters: this.#characters };
  }

  /** Returns what is kept of a platform under that version. Drops what was kept under any other. */
  of(platformId: string, version: string | undefined, now: Date): KeptOfPlatform | undefined {
    const kept = this.#platforms.get(platformId);
    if (kept === undefined) return undefined;
    if (kept.version !== version) {
      this.#drop(platformId, kept);
      return undefined;
    }
    // A map lists its keys in the order in which they were added.
    this.#platforms.delete(platformId);
    this.#platforms.set(platformId, kept);
    return { version, find: (name) => findIn(kept, name, now) };
  }

  /** Keeps a row. `version`: read before the row. `readAt`: before the row was read. */
  keep(
    platformId: string,
    {
      version,
      name,
      value,
      readAt,
    }: Pick<Kept, "value"> & {
      readonly version: string;
      readonly name: string;
      readonly readAt: Date;
    },
  ): void {
    const characters = JSON.stringify(value).length;
    const { rowsOfPlatform, charactersOfPlatform } = this.#limits;
    if (version === "" || characters > charactersOfPlatform) return;
    const before = this.#platforms.get(platformId);
    if (before !== undefined && before.version !== version) this.#drop(platformId, before);
    const kept = this.#platforms.get(platformId) ?? { version, rows: new Map(), characters: 0 };
    this.#platforms.set(platformId, kept);
    this.#forget(kept, name);
    kept.rows.set(name, { value, readAt: readAt.getTime(), characters });
    this.#count(kept, 1, characters);
    while (kept.rows.size > rowsOfPlatform || kept.characters > charactersOfPlatform)
      this.#forget(kept, first(kept.rows));
    this.#shrink();
  }

  #shrink(): void {
    while (this.#rows > this.#limits.rows || this.#characters > this.#limits.characters) {
      const platformId = first(this.#platforms);
      const oldest = this.#platforms.get(platformId);
      if (oldest === undefined) return;
      this.#drop(platformId, oldest);
    }
  }

  #forget(kept: OfPlatform, name: string): void {
    const row = kept.rows.get(name);
    if (row === undefined) return;
    kept.rows.delete(name);
    this.#count(kept, -1, -row.characters);
  }

  #drop(platformId: string, kept: OfPlatform): void {
    this.#platforms.delete(platformId);
    this.#rows -= kept.rows.size;
    this.#characters -= kept.characters;
  }

  #count(kept: OfPlatform, rows: number, characters: number): void {
    kept.characters += characters;
    this.#rows += rows;
    this.#characters += characters;
  }
}

function first(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value ?? "";
}

function findIn({ rows }: OfPlatform, name: string, now: Date): Kept | undefined {
  const row = rows.get(name);
  if (row === undefined) return undefined;
  const age = now.getTime() - row.readAt;
  return age >= 0 && age <= AGE_MS_MAX ? row : undefined;
}
