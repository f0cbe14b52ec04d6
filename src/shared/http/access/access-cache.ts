/** Older rows are read again, for changes that need not show immediately, such as an account found expired. */
const AGE_MS_MAX = 30_000;

/** Maximum size of the cache. A row counts with the length of its JSON. */
const LIMITS = {
  rows: 20_000,
  characters: 16 * 1024 * 1024,
  rowsOfPlatform: 1_000,
  charactersOfPlatform: 1024 * 1024,
};

interface CachedRow {
  readonly value: unknown;
  readonly readAt: number;
  readonly characters: number;
}

interface RowToCache {
  readonly name: string;
  readonly value: unknown;
  /** Read before the row. */
  readonly version: string;
  /** A time before the row was read. */
  readonly readAt: Date;
}

interface OfPlatform {
  readonly version: string;
  readonly rows: Map<string, CachedRow>;
  characters: number;
}

/** The cached rows of a platform under one access version. */
export interface CachedOfPlatform {
  readonly version: string;
  find(name: string): { readonly value: unknown } | undefined;
}

/**
 * Caches the rows against which requests were checked, under the platform's access version that was read before them.
 * Their number and size are limited, in total and per platform. Rows of the least recently used platform are dropped
 * first.
 */
export class AccessCache {
  readonly #limits: typeof LIMITS;
  readonly #platforms = new Map<string, OfPlatform>();
  #rows = 0;
  #characters = 0;

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** The number of cached rows, and their total length. */
  get size(): { readonly rows: number; readonly characters: number } {
    return { rows: this.#rows, characters: this.#characters };
  }

  /** Returns the platform's rows that are cached under this version, and drops those of any other version. */
  of(platformId: string, version: string | undefined, now: Date): CachedOfPlatform | undefined {
    const cached = this.#platforms.get(platformId);
    if (cached === undefined) return undefined;
    if (cached.version !== version) {
      this.#drop(platformId, cached);
      return undefined;
    }
    // A map lists its keys in the order in which they were added.
    this.#platforms.delete(platformId);
    this.#platforms.set(platformId, cached);
    return { version, find: (name) => findIn(cached, name, now) };
  }

  add(platformId: string, { version, name, value, readAt }: RowToCache): void {
    const characters = JSON.stringify(value).length;
    const { rowsOfPlatform, charactersOfPlatform } = this.#limits;
    if (version === "" || characters > charactersOfPlatform) return;
    const before = this.#platforms.get(platformId);
    if (before !== undefined && before.version !== version) this.#drop(platformId, before);
    const cached = this.#platforms.get(platformId) ?? { version, rows: new Map(), characters: 0 };
    this.#platforms.set(platformId, cached);
    this.#forget(cached, name);
    cached.rows.set(name, { value, readAt: readAt.getTime(), characters });
    this.#count(cached, 1, characters);
    while (cached.rows.size > rowsOfPlatform || cached.characters > charactersOfPlatform)
      this.#forget(cached, first(cached.rows));
    while (this.#rows > this.#limits.rows || this.#characters > this.#limits.characters) {
      const platformId = first(this.#platforms);
      const oldest = this.#platforms.get(platformId);
      if (oldest === undefined) return;
      this.#drop(platformId, oldest);
    }
  }

  #forget(cached: OfPlatform, name: string): void {
    const row = cached.rows.get(name);
    if (row === undefined) return;
    cached.rows.delete(name);
    this.#count(cached, -1, -row.characters);
  }

  #drop(platformId: string, cached: OfPlatform): void {
    this.#platforms.delete(platformId);
    this.#rows -= cached.rows.size;
    this.#characters -= cached.characters;
  }

  #count(cached: OfPlatform, rows: number, characters: number): void {
    cached.characters += characters;
    this.#rows += rows;
    this.#characters += characters;
  }
}

function first(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value ?? "";
}

function findIn({ rows }: OfPlatform, name: string, now: Date): CachedRow | undefined {
  const row = rows.get(name);
  if (row === undefined) return undefined;
  const age = now.getTime() - row.readAt;
  return age >= 0 && age <= AGE_MS_MAX ? row : undefined;
}
