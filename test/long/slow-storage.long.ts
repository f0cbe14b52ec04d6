import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { BlobBytes } from "../../src/shared/files/bytes-store.ts";
import { openBlobs } from "../../src/shared/runtime/storage/tables.ts";
import { outcomeOf, dataOf } from "../setup/factories.ts";
import { forFile } from "../setup/for-file.ts";
import { aPublisher } from "../setup/publisher.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { startRelay } from "../setup/relay.ts";
import { announce, aPicture, send } from "../setup/uploads.ts";

/** Three tries of 15 s, and what a busy machine takes. */
const PIECE_MS_MAX = 60_000;
/** Its limit of 20 s, and the same. */
const COMPLETE_MS_MAX = 30_000;
const TIMES = { timeout: 120_000 };

const relay = forFile(() => startRelay());

/** Storage that sends a byte each second. */
const slow = forFile(async () => {
  const server = createServer((_request, response: ServerResponse) => {
    response.writeHead(206, {
      etag: '"0x1"',
      "content-length": 1_000,
      "content-range": "bytes 0-999/1000",
    });
    const timer = setInterval(() => response.write("x"), 1_000);
    response.once("close", () => clearInterval(timer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}/a`;
  return {
    connectionString: `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=a2V5;BlobEndpoint=${endpoint}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
});

async function msOf(work: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

test.concurrent(
  "a piece that storage sends a byte a second of is given up, before the network's call ends",
  TIMES,
  async () => {
    const account = { kind: "connection_string", connectionString: slow.connectionString } as const;
    const bytes = new BlobBytes(openBlobs(account, "media"), "p/f", { size: 1_000, etag: '"0x1"' });
    const took = await msOf(
      expect(bytes.read(0, 999)).rejects.toMatchObject({
        code: "media_unreachable",
        subject: "connectionLost",
        isStored: true,
      }),
    );
    expect(took).toBeLessThan(PIECE_MS_MAX);
  },
);

test.concurrent(
  "completing an upload is answered in time while storage doesn't send it, and can be repeated",
  TIMES,
  async () => {
    const publisher = await aPublisher(relay, []);
    const picture = await aPicture();
    const file = dataOf(await announce(publisher, picture.length));
    await send(file, picture);
    const complete = () => publisher.call("POST", `/v1/media/${file.id}/complete`);
    const { blobs } = relay.services.publishing.files.stores;
    let isAway = true;
    replaceIn(blobs, (former) => ({
      read: (...given) =>
        isAway ? new Promise<Uint8Array>(() => undefined) : former.read(...given),
    }));
    const answering = complete();
    const took = await msOf(answering);
    expect(outcomeOf(await answering)).toBe("503 service_unavailable");
    expect(took).toBeLessThan(COMPLETE_MS_MAX);
    isAway = false;
    expect(dataOf(await complete())).toMatchObject({ status: "ready" });
  },
);
