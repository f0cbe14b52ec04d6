import { BlobServiceClient } from "@azure/storage-blob";
import { describe, expect, test } from "vitest";
import { eraseFiles, eraseFilesOfPlatform } from "../../src/shared/files/files.ts";
import { FILES_CONTAINER } from "../../src/shared/runtime/storage/blobs.ts";
import { inBatches } from "../../src/shared/runtime/promises.ts";
import { dyingAt } from "../setup/dying-relay.ts";
import { aProfile, dataOf, freshSession, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher, publisherOf } from "../setup/publisher.ts";
import type { Relay } from "../setup/relay.ts";
import { blobsOf, fileRemains, fileViolations, storedFiles } from "../setup/stored-files.ts";
import { announce, aPicture, send, tryUpload, upload } from "../setup/uploads.ts";
import { useRelay } from "../setup/use-relay.ts";
import { runWalks } from "../setup/walks.ts";

const relay = useRelay();
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const WRITES_MAX = 20;

/** A file in each state, all with bytes that were sent. */
async function aFileInEachState(own: Publisher): Promise<void> {
  const picture = await aPicture(8, 8);
  await send(dataOf(await announce(own, picture.length)), picture);
  await upload(own, picture);
  await tryUpload(own, Buffer.from("no picture"));
  const { id } = await upload(own, picture);
  await own.call("DELETE", `/v1/media/${id}`);
}

async function eraseProfile(own: Publisher): Promise<void> {
  dataOf(await own.call("POST", `/v1/profiles/${own.profileId}/erase`));
  for (let round = 0; round < 12; round += 1) {
    relay.advance(11 * MINUTE_MS);
    await runWalks(relay.services, "erase-profiles");
  }
}

describe("erasing a profile", () => {
  test("may die at any write of its files, and removes them all", { timeout: 60_000 }, async () => {
    const erase = async ({ services }: Relay, { owner }: Publisher) => {
      const { files } = services.publishing;
      while ((await eraseFiles(files, owner)).next !== undefined);
    };
    let end = "died";
    let nth = 0;
    while (end === "died" && nth < WRITES_MAX) {
      nth += 1;
      const own = await aPublisher(relay, []);
      const { platformId } = own.owner;
      await aFileInEachState(own);
      end = await dyingAt(relay, { nth, moment: "after" }, (process) => erase(process, own));
      const { blobs, files } = await storedFiles(relay, platformId);
      const ids = files.map(({ id }) => id);
      expect(blobs.filter((id) => !ids.includes(id))).toEqual([]);
      await erase(relay, own);
      const { counts, ...left } = await storedFiles(relay, platformId);
      expect(left).toMatchObject({ files: [], listed: [], blobs: [] });
      expect(counts).toEqual({ bytes: 0, waiting: 0 });
    }
    expect(end).toBe("lived");
    expect(nth).toBeGreaterThan(4);
  });

  test("removes its files, and leaves those of other profiles", async () => {
    const own = await aPublisher(relay, []);
    const { platformId } = own.owner;
    const { id: profileId } = await aProfile(relay, own.application);
    const { id } = await upload(
      publisherOf(relay, own.application, profileId),
      await aPicture(8, 8),
    );
    await aFileInEachState(own);
    await eraseProfile(own);
    const { files, listed, blobs } = await storedFiles(relay, platformId);
    expect([files.map((file) => file.id), listed, blobs]).toEqual([[id], [id], [id]]);
    expect(await fileViolations(relay, platformId)).toEqual([]);
  });

  test("removes a file whose row is damaged, and its place in the list", async () => {
    const own = await aPublisher(relay, []);
    const { platformId } = own.owner;
    const { id } = await upload(own, await aPicture(8, 8));
    const rows = [...(relay.storage?.rows(["core"]) ?? [])];
    const row = rows.find(({ rowKey }) => rowKey.startsWith("B|") && rowKey.endsWith(id));
    await relay.tables.core.putProperties(platformId, {
      rowKey: row?.rowKey ?? "",
      announced: "{",
    });
    await eraseProfile(own);
    const { files, listed, blobs } = await storedFiles(relay, platformId);
    expect([files, listed, blobs]).toEqual([[], [], []]);
  });

  test("removes files where the row of their counts is damaged", async () => {
    const own = await aPublisher(relay, []);
    const { platformId } = own.owner;
    await upload(own, await aPicture(8, 8));
    await relay.tables.core.putProperties(platformId, { rowKey: "HB", files: "{" });
    await eraseProfile(own);
    const rows = [...(relay.storage?.rows(["core"]) ?? [])];
    const ofPlatform = rows.filter(({ partitionKey }) => partitionKey === platformId);
    expect(ofPlatform.filter(({ rowKey }) => /^BA?\|/.test(rowKey))).toEqual([]);
    expect(await blobsOf(relay, platformId)).toEqual([]);
  });

  test("leaves nothing of an upload that came later", async () => {
    const own = await aPublisher(relay, []);
    const { platformId } = own.owner;
    const picture = await aPicture(8, 8);
    const file = dataOf(await announce(own, picture.length));
    await eraseProfile(own);
    expect((await send(file, picture)).status).toBe(201);
    expect(await blobsOf(relay, platformId)).toEqual([file.id]);
    relay.advance(DAY_MS);
    await runWalks(relay.services, "expire-files");
    expect(await fileRemains(relay, platformId)).toEqual([]);
  });
});

/** Puts bytes that no row names into the folder of a platform. */
async function addLostBlobs(platformId: string, count: number): Promise<void> {
  const { settings, services } = relay;
  const service = BlobServiceClient.fromConnectionString(settings["AzureWebJobsStorage"] ?? "");
  const container = service.getContainerClient(FILES_CONTAINER);
  const folder = services.publishing.files.stores.blobFolder(platformId);
  const names = Array.from({ length: count }, (_, at) => `${folder}lost-${at}`);
  await inBatches(names, 16, (name) => container.getBlockBlobClient(name).upload("x", 1));
}

test("erasing a platform removes all its bytes, also when a process dies between two pages", async () => {
  const own = await aPublisher(relay, []);
  const other = await aPublisher(relay, []);
  const { platformId } = own.owner;
  await aFileInEachState(own);
  await upload(other, await aPicture(8, 8));
  // More than a page.
  await addLostBlobs(platformId, 230);
  const session = await freshSession(relay, own.application.platform);
  dataOf(
    await relay.call("POST", "/v1/platform/close", { session, body: { name: "Example Media" } }),
  );
  expect(outcomeOf(await announce(own, 10))).not.toBe("201");

  const dies = { nth: 150, moment: "after" } as const;
  const erase = async ({ services }: Relay) => {
    while ((await eraseFilesOfPlatform(services.publishing.files, platformId)).next !== undefined);
  };
  expect(await dyingAt(relay, dies, erase)).toBe("died");
  expect((await blobsOf(relay, platformId)).length).toBeGreaterThan(50);

  for (let day = 0; day < 10; day += 1) {
    for (let round = 0; round < 4; round += 1) {
      await runWalks(relay.services, "erase-profiles");
      relay.advance(11 * MINUTE_MS);
    }
    relay.advance(DAY_MS);
  }
  expect(await blobsOf(relay, platformId)).toEqual([]);
  expect(await blobsOf(relay, other.owner.platformId)).toHaveLength(1);
  expect(await fileViolations(relay, other.owner.platformId)).toEqual([]);
  await runWalks(relay.services, "expire-files");
  expect(await fileRemains(relay, platformId)).toEqual([]);
});
