import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { aLinkedAccount, aPlatform, dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher, unique } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { saveLinked } from "../setup/stored.ts";
import { fileRemains, fileViolations, storedFiles } from "../setup/stored-files.ts";
import { announce, aPicture, send, upload } from "../setup/uploads.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay, instance } = useTwoProcesses();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let publisher: Publisher;
beforeAll(async () => {
  publisher = await aPublisher(relay, []);
});

const stored = ({ owner }: Publisher) => storedFiles(relay, owner.platformId);
const remains = ({ owner }: Publisher) => fileRemains(relay, owner.platformId);

test("counts are exact across two processes that announce and delete at the same time", async () => {
  const both = [publisher, publisher.at(instance)];
  const announced = await Promise.all(
    Array.from({ length: 20 }, (_, index) => announce(both[index % 2] ?? publisher, 1_000)),
  );
  const ids = announced.map((answer) => String(dataOf(answer).id));
  expect((await stored(publisher)).counts).toEqual({ bytes: 20_000, waiting: 20 });
  await Promise.all(
    ids.map((id, index) => (both[(index + 1) % 2] ?? publisher).call("DELETE", `/v1/media/${id}`)),
  );
  expect((await stored(publisher)).counts).toEqual({ bytes: 0, waiting: 0 });
});

test("a platform has 1 GiB of files until an operator credits it, then 20", async () => {
  const platform = await aPlatform(relay, { tokens: 0 });
  const own = await aPublisher(relay, [], platform);
  const gibibyte = 1_073_741_824;
  dataOf(await announce(own, gibibyte));
  expect(outcomeOf(await announce(own, 1))).toBe("409 limit_reached");
  const credit = { platformId: platform.id, tokens: 1 };
  dataOf(
    await relay.call("POST", "/v1/billing/admin/credit", { operator: ["Admin"], body: credit }),
  );
  for (let files = 1; files < 20; files += 1) dataOf(await announce(own, gibibyte));
  expect(outcomeOf(await announce(own, 1))).toBe("409 limit_reached");
});

/** Announces files of this size at two processes at the same time, and counts how many are accepted. */
async function announceAtBoth(own: Publisher, files: number, bytes: number): Promise<number> {
  const both = [own, own.at(instance)];
  const answers = await Promise.all(
    Array.from({ length: files }, (_, index) => announce(both[index % 2] ?? own, bytes)),
  );
  const outcomes = answers.map(outcomeOf);
  const accepted = outcomes.filter((outcome) => outcome === "201").length;
  expect(outcomes.filter((outcome) => outcome === "409 limit_reached")).toHaveLength(
    files - accepted,
  );
  return accepted;
}

test("two processes accept together as much as a platform has room for", async () => {
  const own = await aPublisher(relay, []);
  expect(await announceAtBoth(own, 104, 1)).toBe(100);
  expect((await stored(own)).counts).toEqual({ bytes: 100, waiting: 100 });
  const unpaid = await aPublisher(relay, [], await aPlatform(relay, { tokens: 0 }));
  const bytes = 200 * 1024 * 1024;
  expect(await announceAtBoth(unpaid, 12, bytes)).toBe(5);
  expect((await stored(unpaid)).counts).toEqual({ bytes: 5 * bytes, waiting: 5 });
});

async function aSentFile(own: Publisher, bytes: Buffer): Promise<string> {
  const file = dataOf(await announce(own, bytes.length));
  await send(file, bytes);
  return file.id;
}

test("two processes that complete a file answer the same", async () => {
  const own = await aPublisher(relay, []);
  for (const bytes of [await aPicture(8, 8), Buffer.from("no picture")]) {
    const id = await aSentFile(own, bytes);
    const path = `/v1/media/${id}/complete`;
    const answers = await Promise.all(
      [own, own.at(instance), own, own.at(instance)].map((one) => one.call("POST", path)),
    );
    const told = answers.map(({ status, body }) => ({
      status,
      at: body.data?.completedAt,
      reason: body.error?.details.reason,
    }));
    expect(told).toEqual(told.map(() => told[0]));
    const lines = [...relay.logLines, ...instance.logLines];
    const isRecord = (line: string) =>
      /file\.(?:completed|rejected)/.test(line) && line.includes(id);
    expect(lines.filter(isRecord)).toHaveLength(1);
    expect(await fileViolations(relay, own.owner.platformId)).toEqual([]);
  }
});

test("a file that is completed and deleted at the same time is deleted", async () => {
  const own = await aPublisher(relay, []);
  const picture = await aPicture(8, 8);
  for (let round = 0; round < 5; round += 1) {
    const id = await aSentFile(own, picture);
    const complete = own.call("POST", `/v1/media/${id}/complete`);
    // Later in each round.
    await wait(round * 5);
    const deleted = await own.at(instance).call("DELETE", `/v1/media/${id}`);
    expect(deleted.status).toBe(204);
    expect(["200", "404 not_found"]).toContain(outcomeOf(await complete));
    expect(outcomeOf(await own.call("GET", `/v1/media/${id}`))).toBe("404 not_found");
  }
  const { blobs, counts } = await stored(own);
  expect(blobs).toEqual([]);
  expect(counts).toEqual({ bytes: 0, waiting: 0 });
});

describe("the walk", () => {
  test("removes a file whose upload did not come, and frees its room", async () => {
    const own = await aPublisher(relay, []);
    const file = dataOf(await announce(own, 10));
    await send(file, Buffer.alloc(10));
    await relay.runTimer("expire-files");
    expect((await stored(own)).blobs).toEqual([file.id]);
    relay.advance(4 * HOUR_MS);
    expect(outcomeOf(await own.call("GET", `/v1/media/${file.id}`))).toBe("404 not_found");
    relay.advance(HOUR_MS);
    await relay.runTimer("expire-files");
    expect(await remains(own)).toEqual([]);
  });

  test("keeps a file for its week, and removes it then with all that is stored of it", async () => {
    const own = await aPublisher(relay, []);
    const file = await upload(own, await aPicture());
    relay.advance(5 * HOUR_MS);
    await relay.runTimer("expire-files");
    relay.advance(6 * DAY_MS);
    await relay.runTimer("expire-files");
    expect(outcomeOf(await own.call("GET", `/v1/media/${file.id}`))).toBe("200");
    relay.advance(DAY_MS);
    await relay.runTimer("expire-files");
    expect(await remains(own)).toEqual([]);
  });

  test("keeps a file whose time another process has moved shortly before its end", async () => {
    const own = await aPublisher(relay, []);
    await saveLinked(relay.services, own.owner, "bluesky", aLinkedAccount("one"));
    const post = (url: string) => ({
      text: unique("late"),
      platforms: ["bluesky"],
      mediaUrls: [url],
    });
    const kept = await upload(own, await aPicture());
    const late = await upload(own, await aPicture());
    relay.advance(5 * HOUR_MS);
    await relay.runTimer("expire-files");
    relay.advance(Date.parse(kept.keptUntil) - relay.clock.now().getTime() - 500);
    const [accepted] = await Promise.all([
      own.submit(post(kept.url)),
      instance.runTimer("expire-files"),
    ]);
    expect(accepted.status).toBe(202);
    // A post whose transaction arrives when the file is gone.
    const [arrives, goes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = await startRelay({
      sameDeploymentAs: relay,
      holdWrite({ rowKeys }) {
        if (!rowKeys.some((rowKey) => rowKey.startsWith("I|"))) return undefined;
        arrives.resolve();
        return goes.promise;
      },
    });
    const accepting = own.at(slow).submit(post(late.url));
    await arrives.promise;
    relay.advance(6 * 60_000);
    await Promise.all([relay.runTimer("expire-files"), instance.runTimer("expire-files")]);
    goes.resolve();
    expect(outcomeOf(await accepting)).toBe("422 not_publishable");
    expect((await stored(own)).blobs).toEqual([kept.id]);
    expect(await fileViolations(relay, own.owner.platformId)).toEqual([]);
    await slow.stop();
  });
});
