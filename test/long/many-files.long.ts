import { expect, test } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import { fileRow, listedFileRow } from "../../src/shared/files/file-row.ts";
import { fileKey } from "../../src/shared/files/file-store.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher } from "../setup/publisher.ts";
import { aPicture, upload } from "../setup/uploads.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { useRelay } from "../setup/use-relay.ts";
const relay = useRelay();
test(
  "a profile of 9,001 files is listed to the end, also as its application, and erased with all of them",
  { timeout: 200_000 },
  async () => {
    const own = await aPublisher(relay, []);
    const made = await upload(own, await aPicture());
    const { platformId, profileId, applicationId } = own.owner;
    const ref = { platformId, profileId, fileId: made.id };
    const found = await relay.services.publishing.files.stores.files.find(ref);
    if (found === undefined) throw new Error("none");
    const core = relay.tables.core;
    for (let batch = 0; batch < 200; batch += 1) {
      const writes = Array.from({ length: 45 }, () => {
        const id = newId("file", relay.clock.now());
        const rowKey = fileKey({ profileId, fileId: id });
        const listed = rowKey.replace(`B|${profileId}`, `BA|${applicationId}`);
        return [
          { kind: "create" as const, row: { ...fileRow.encode(found.file), rowKey } },
          {
            kind: "create" as const,
            row: {
              ...listedFileRow.encode({ profileId, contentType: "image/jpeg" }),
              rowKey: listed,
            },
          },
        ];
      }).flat();
      await core.transact(platformId, writes);
    }
    for (const headers of [own.headers, {}]) {
      const seen = new Set<string>();
      let cursor = "";
      do {
        const answer = await relay.call("GET", `/v1/media?limit=100${cursor}`, {
          key: own.key,
          headers,
        });
        for (const { id } of dataOf(answer)) seen.add(id);
        cursor =
          answer.body.page.nextCursor === null ? "" : `&cursor=${answer.body.page.nextCursor}`;
      } while (cursor !== "");
      expect(seen.size).toBe(9_001);
    }
    dataOf(await own.call("POST", `/v1/profiles/${profileId}/erase`));
    for (let round = 0; round < 12; round += 1) {
      relay.advance(11 * 60_000);
      await relay.runTimer("erase-profiles");
    }
    const left = (await storedRows(relay)).filter(({ rowKey }) => /^BA?\|/.test(rowKey));
    expect(left).toEqual([]);
  },
);
