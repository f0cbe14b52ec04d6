import type { TableClient } from "@azure/data-tables";
import { encodeTime } from "ulid";
import { inverted, timeOfId } from "../src/shared/runtime/ids.ts";
import type { Entity } from "./bare-storage.ts";
import type { BenchStorage } from "./emulator.ts";
import { insert, openBare, rowsUnder } from "./growing-rows.ts";
import { acceptAsk, openTenant, startRelay, succeed } from "./relay.ts";
import { costOf, RoundTrips, type Cost, type Counted } from "./round-trips.ts";

const READS = [
  "readPost",
  "listPosts",
  "me",
  "connections",
  "usage",
] as const satisfies readonly Counted[];

export interface SizedRead {
  readonly posts: number;
  readonly name: Counted;
  readonly cost: Cost;
}

interface Place {
  readonly storage: BenchStorage;
  readonly prefix: string;
}

const ULID_TIME_LENGTH = 10;
const SECOND_MS = 1_000;

/** Rows that stay: the rest of what a post writes is gone, or lies under keys that no listing passes. */
const LASTING = /^[PL]\|/;

/** The lasting rows of one accepted post, as they lie in the platform's partition. */
async function rowsOf(core: TableClient, platformId: string, postId: string): Promise<Entity[]> {
  const isOfPost = (row: Entity) =>
    Object.values(row).some((value) => typeof value === "string" && value.includes(postId));
  const rows = await rowsUnder(core, platformId);
  return rows.filter((row) => LASTING.test(row.rowKey) && isOfPost(row));
}

/**
 * Earlier posts by copying one: their ids tell an earlier time each, so that the copies lie behind it in the partition
 * as if they had been accepted one a second.
 */
class Copies {
  readonly #rows: readonly Entity[];
  readonly #postId: string;
  readonly #from: number;

  constructor(rows: readonly Entity[], postId: string) {
    this.#rows = rows;
    this.#postId = postId;
    this.#from = timeOfId("post", postId);
  }

  at(index: number): Entity[] {
    const time = this.#from - index * SECOND_MS;
    const [, ulid = ""] = this.#postId.split("_");
    const postId = `pst_${encodeTime(time)}${ulid.slice(ULID_TIME_LENGTH)}`;
    return this.#rows.map((row) => {
      const text = JSON.stringify(row)
        .replaceAll(inverted(this.#from), inverted(time))
        .replaceAll(this.#postId, postId);
      // Safe: the same properties with other texts.
      const copy = JSON.parse(text) as Entity;
      // A ledger entry's key is its number: the copies lie behind the one they were made of.
      const suffix = copy.rowKey.startsWith("L|") ? String(index).padStart(9, "0") : "";
      return { ...copy, rowKey: copy.rowKey + suffix };
    });
  }
}

/**
 * What reads cost while a platform's posts grow in number, each with all its rows. The clock would say nothing: the
 * emulator scans.
 */
export async function readsAtSizes(
  { storage, prefix }: Place,
  sizes: readonly number[],
): Promise<SizedRead[]> {
  const services = startRelay(storage, prefix);
  const tenant = await openTenant(services);
  const { id } = await succeed<{ id: string }>(
    services,
    acceptAsk(tenant, { platforms: ["bluesky"] }),
  );
  const core = openBare(storage, `${prefix}core`);
  const rows = await rowsOf(core, tenant.platformId, id);
  const copies = new Copies(rows, id);
  const results: SizedRead[] = [];
  let posts = 1;
  for (const size of sizes) {
    for (; posts < size;) {
      const until = Math.min(size, posts + 1_000);
      const more = Array.from({ length: until - posts }, (_, index) => copies.at(posts + index));
      await insert(core, tenant.platformId, more.flat());
      posts = until;
    }
    const counts = await new RoundTrips(services, tenant).count(READS);
    for (const name of READS) results.push({ posts, name, cost: costOf(counts[name]) });
  }
  return results;
}
