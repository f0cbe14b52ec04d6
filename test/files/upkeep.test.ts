import { beforeAll, describe, expect, test } from "vitest";
import { aPlatform, dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher } from "../setup/publisher.ts";
import { fileRemains, storedFiles } from "../setup/stored-files.ts";
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

test("a platform has room for 100 files that wait", async () => {
  const own = await aPublisher(relay, []);
  const answers = await Promise.all(Array.from({ length: 101 }, () => announce(own, 1)));
  const outcomes = answers.map(outcomeOf).toSorted();
  expect([outcomes[99], outcomes[100]]).toEqual(["201", "409 limit_reached"]);
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
});
