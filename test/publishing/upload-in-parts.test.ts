import { createHash } from "node:crypto";
import { BlobServiceClient } from "@azure/storage-blob";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { startSandbox } from "../../sandbox/server.ts";
import { FILES_HOST, ranged, serveFiles } from "../media/file-server.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { dyingAt, type Death } from "../setup/dying-relay.ts";
import { forFile } from "../setup/for-file.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { aFilm, upload } from "../setup/uploads.ts";
import { sweepStalledLegs } from "../setup/walks.ts";

/** LinkedIn takes videos in parts of this size, and is the one network that does. */
const PART_BYTES = 4 * 1024 * 1024;
const FILM_BYTES = 2.5 * PART_BYTES;
const MINUTE = 60_000;

let served = ranged(aFilm(FILM_BYTES), '"one"', "video/mp4");
const files = forFile(() =>
  serveFiles({ "/film.mp4": (request, response) => served(request, response) }),
);
const sandbox = forFile(() => startSandbox());
const relay = forFile(() => {
  const settings = sandboxSettings(sandbox, sandbox.url);
  const hosts = { ...JSON.parse(settings.OUTBOUND_HOST_MAP), [FILES_HOST]: files.origin };
  const outbound = { OUTBOUND_HOST_MAP: JSON.stringify(hosts) };
  return startRelay({ settings: { ...settings, ...outbound, ...DEMO_APPS } });
});

let publisher: Publisher;
beforeAll(async () => {
  publisher = await aPublisher(relay, ["linkedin"]);
});
let asked = 0;
beforeEach(() => {
  asked = sandbox.requests().length;
});

const requests = () => sandbox.requests().slice(asked);
const begun = () => requests().filter(({ path }) => path.endsWith("action=initializeUpload"));
/** The numbers of the parts that arrived, in their order. */
const parts = () =>
  requests().flatMap(({ path, method }) =>
    method === "PUT" ? [Number(/uploaded-video\/(\d+)/.exec(path)?.[1])] : [],
  );
const shown = (text: string) => sandbox.posts("linkedin").filter((post) => post.text === text);
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function accept(url: string) {
  const text = unique("in parts");
  const post = await publisher.accept({ text, platforms: ["linkedin"], mediaUrls: [url] });
  return { text, id: String(post.id) };
}

/** Has the post's work done by processes that die where a part has arrived, until it has ended. */
async function publishDying(
  postId: string,
  death: Pick<Death, "nth" | "moment">,
  onDeath: (deaths: number) => unknown = () => undefined,
) {
  let deaths = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    const before = parts().length;
    const counts = ({ rowKeys }: { readonly rowKeys: readonly string[] }) =>
      parts().length > before && rowKeys.some((key) => key.endsWith("|linkedin"));
    const end = await dyingAt(relay, { ...death, counts }, (doomed) => doomed.drain());
    if (end === "died") await onDeath((deaths += 1));
    const { status, legs } = await publisher.read(postId);
    if (status !== "processing") return { deaths, status, leg: legs[0] };
    relay.advance(MINUTE);
    await sweepStalledLegs(relay.services);
  }
  throw new Error("the post did not end");
}

const FIRST_DEATH = { nth: 1, moment: "after" } as const;

test("an upload goes on with the next part when its process died after each, and is published once", async () => {
  const film = aFilm(FILM_BYTES);
  const file = await upload(publisher, film, { contentType: "video/mp4" });
  const { text, id } = await accept(file.url);
  const { deaths, status } = await publishDying(id, FIRST_DEATH);
  expect(status).toBe("succeeded");
  expect(deaths).toBeGreaterThanOrEqual(2);
  expect(begun()).toHaveLength(1);
  expect(parts()).toEqual([0, 1, 2]);
  expect(shown(text).map(({ media }) => media[0]?.sha256)).toEqual([sha256(film)]);
});

test("parts whose receipts were lost with their processes are sent again, and no others", async () => {
  const film = aFilm(FILM_BYTES, 1);
  const file = await upload(publisher, film, { contentType: "video/mp4" });
  const { text, id } = await accept(file.url);
  const { status } = await publishDying(id, { nth: 2, moment: "before" });
  expect(status).toBe("succeeded");
  expect(begun()).toHaveLength(1);
  expect(parts()).toEqual([0, 1, 1, 2, 2]);
  expect(shown(text).map(({ media }) => media[0]?.sha256)).toEqual([sha256(film)]);
});

test("an upload whose addresses ended while nobody worked on it begins again, and is published once", async () => {
  const file = await upload(publisher, aFilm(FILM_BYTES, 2), { contentType: "video/mp4" });
  const { text, id } = await accept(file.url);
  const { status } = await publishDying(id, FIRST_DEATH, (deaths) => {
    if (deaths === 1) sandbox.advance(2 * 60 * MINUTE);
  });
  expect(status).toBe("succeeded");
  expect(begun()).toHaveLength(2);
  expect(shown(text)).toHaveLength(1);
});

test("a file that was exchanged at its address meanwhile is uploaded from its beginning", async () => {
  const { text, id } = await accept(`https://${FILES_HOST}/film.mp4`);
  const film = aFilm(FILM_BYTES + 1, 3);
  const { status } = await publishDying(id, FIRST_DEATH, () => {
    served = ranged(film, '"two"', "video/mp4");
  });
  expect(status).toBe("succeeded");
  expect(begun()).toHaveLength(2);
  expect(shown(text).map(({ media }) => media[0]?.sha256)).toEqual([sha256(film)]);
});

test("an uploaded file whose bytes are others by then is not published", async () => {
  const file = await upload(publisher, aFilm(FILM_BYTES, 4), { contentType: "video/mp4" });
  const { text, id } = await accept(file.url);
  const service = BlobServiceClient.fromConnectionString(
    relay.settings["AzureWebJobsStorage"] ?? "",
  );
  const { platformId } = publisher.owner;
  const { leg } = await publishDying(id, FIRST_DEATH, async () => {
    const name = `${relay.settings["STORAGE_PREFIX"]}${platformId}/${file.id}`;
    const blob = service.getContainerClient("media").getBlockBlobClient(name);
    const other = aFilm(FILM_BYTES, 5);
    await blob.upload(other, other.length);
  });
  expect(leg).toMatchObject({
    status: "failed",
    error: { code: "media_unreachable", rule: "linkedin.file.unusable" },
  });
  expect(shown(text)).toEqual([]);
});
