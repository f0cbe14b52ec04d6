import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { postWake } from "../../../src/shared/publishing/post.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { Table } from "../../../src/shared/runtime/storage/table.ts";
import type { TableWire } from "../../../src/shared/runtime/storage/table-wire.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { runWalks } from "../../setup/walks.ts";

const MINUTE = 60_000;

/** Has every query over partitions begin with an empty page, as the service may. */
function beginEmpty(table: Table): void {
  const select = table.select.bind(table);
  table.select = async (selection, after) =>
    after === undefined ? { rows: [], next: "0\n" } : select(selection, after);
}

/** A wake that was written long after its time. */
async function leaveBehind({ services, clock }: Relay): Promise<string> {
  const now = clock.now();
  const ref = {
    platformId: newId("platform", now),
    profileId: newId("profile", now),
    postId: newId("post", now),
  };
  const dueAt = new Date(now.getTime() - 3 * 60 * MINUTE).toISOString();
  await services.webhooks.wakes.add(postWake(ref, dueAt), now);
  return ref.postId;
}

test("a due post behind an empty page is hinted all the same", async () => {
  const relay = await startRelay();
  const postId = await leaveBehind(relay);
  beginEmpty(relay.tables.wake);
  const hinted: unknown[] = [];
  relay.queues.onSend = (message) => {
    hinted.push((message as { postId?: string }).postId);
    return "lose";
  };
  await runWalks(relay.services, "fire-due-posts");
  expect(hinted).toEqual([postId]);
});

test("a platform behind an empty page is swept all the same", async () => {
  const relay = await startRelay();
  const { services, clock } = relay;
  const platformId = newId("platform", clock.now());
  await services.webhooks.wakes.mark(
    "platform",
    platformId,
    new Date(clock.now().getTime() - 30 * MINUTE),
  );
  beginEmpty(relay.tables.wake);
  await runWalks(services, "sweep-stalled-work");
  expect((await relay.tables.wake.select({}, "0\n")).rows).toEqual([]);
});

test("a query that does not come to an end is an error, and no short answer", async () => {
  let pages = 0;
  const wire = {
    page: () => {
      pages += 1;
      return Promise.resolve({ rows: [], next: "on" });
    },
  };
  // Safe: a query calls nothing else.
  const table = new Table(() => Promise.resolve(wire as unknown as TableWire));
  const reading = table.list({ partitionKey: "p", limit: 10 });
  await expect(reading).rejects.toMatchObject({ code: "service_unavailable" });
  expect(pages).toBeGreaterThan(100);
});

test("nobody who asks for a page forgets that there may be more", () => {
  const asking = globSync("src/**/*.ts").flatMap((path) =>
    [
      ...readFileSync(path, "utf8").matchAll(
        /(?:const|let|\() *(\{[^}]*\}|\w+)\)? *= *await [\w.#]*\.select\(/g,
      ),
    ].map((match) => ({ path, taken: match[1] ?? "" })),
  );
  expect(asking.length).toBeGreaterThan(8);
  const forgetful = asking.filter(({ taken }) => taken.startsWith("{") && !/\bnext\b/.test(taken));
  expect(forgetful).toEqual([]);
});
