import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { startAzurite } from "../../dev/azurite.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { FILES_CONTAINER } from "../../src/shared/runtime/storage/blobs.ts";
import { openBlobs } from "../../src/shared/runtime/storage/tables.ts";
import { FILES_HOST, serveFiles } from "../media/file-server.ts";
import { startRelayProcess } from "../process/relay/relay-process.ts";
import { startWorld, type World } from "../process/relay/world.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { dataOf } from "../setup/factories.ts";
import { forFile } from "../setup/for-file.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { aFilm, upload } from "../setup/uploads.ts";
import { startCountingFront, type CountingFront } from "./counting-front.ts";
import { largeFilm, sendFilm, type LargeFilm } from "./large-film.ts";

const MEGABYTE = 1024 * 1024;
const GROWTH_MAX = 64 * MEGABYTE;
const SAMPLE_MS = 20;
const REST_MS = 3_000;
const PUBLISH_MS_MAX = 240_000;
/** Two pieces of each of eight transfers, and as much as V8 lets lie. */
const EIGHT_GROWTH_MAX = 8 * 2 * 2 * MEGABYTE + GROWTH_MAX;
const TIMES = { timeout: 600_000 };

/** What Mastodon takes unless its operator allows more. */
const MASTODON_BYTES = 99 * MEGABYTE;
/** The limit of Bluesky and Instagram. */
const FILM_BYTES = 300_000_000;

const folder = forFile(async () => {
  const path = await mkdtemp(join(tmpdir(), "large-files-"));
  return { path, stop: () => rm(path, { recursive: true, force: true }) };
});
const azurite = forFile(() => startAzurite({ folder: folder.path }));
const front: CountingFront = forFile(() => startCountingFront(() => world.sandbox.url));
const world: World = forFile(() => startWorld(front.hosts));
const settings = () => ({
  ...world.settings,
  ...DEMO_APPS,
  AzureWebJobsStorage: azurite.connectionString,
  STORAGE_PREFIX: prefix,
  NETWORK_TIMEOUT_MS: "60000",
  LEG_LEASE_SECONDS: "120",
});
const prefix = `l${randomBytes(5).toString("hex")}`;
const relay = forFile(() => startRelayProcess({ settings: settings() }));
/** Links accounts, next to the process that is measured. Its operators have an issuer of their own. */
const linking = forFile(async () => {
  const own = Object.entries(settings()).filter(([name]) => !name.startsWith("OPERATOR_"));
  const started = await startRelay({
    settings: Object.fromEntries(own),
    emulatedTables: true,
    emulatedQueues: true,
  });
  started.advance(Date.now() - started.clock.now().getTime());
  return started;
});

let publisher: Publisher;
let own: Pick<Publisher, "call">;
let warm = 0;

async function publish(url: string, platforms: readonly string[]) {
  const body = { text: unique("a large film"), platforms, mediaUrls: [url] };
  const headers = { "idempotency-key": unique("large").replaceAll(" ", "-") };
  const { id } = dataOf(await own.call("POST", "/v1/posts", { body, headers }));
  for (const endsAt = Date.now() + PUBLISH_MS_MAX; Date.now() < endsAt; await delay(200)) {
    const post = dataOf(await own.call("GET", `/v1/posts/${id}`));
    if (post.status !== "processing") return post;
  }
  throw new Error(`a post did not end\n${relay.output()}`);
}

async function uploadFilm(film: LargeFilm) {
  const announced = { contentType: "video/mp4", bytes: film.bytes };
  const file = dataOf(await own.call("POST", "/v1/media", { body: announced }));
  expect(await sendFilm(file.upload, film)).toBe(201);
  const complete = () => own.call("POST", `/v1/media/${file.id}/complete`);
  return dataOf(await bounded(`complete ${megabytes(film.bytes)} MB`, complete));
}

function figure(what: string, value: string): void {
  // oxlint-disable-next-line no-console -- the figures are what this is for
  console.log(`${what}: ${value}`);
}

const megabytes = (bytes: number) => Math.round(bytes / MEGABYTE);

/** Does something, and fails where the process takes more memory meanwhile than it may. */
async function bounded<T>(what: string, act: () => Promise<T>): Promise<T> {
  await delay(REST_MS);
  const before = await relay.residentBytes();
  let most = before;
  const startedAt = performance.now();
  const work = act();
  const over = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([over, delay(SAMPLE_MS, false)])))
    most = Math.max(most, await relay.residentBytes());
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const grown = `grew by ${megabytes(most - before)} MB in ${seconds} s`;
  figure(what, `${grown}, at most ${megabytes(most - warm)} MB over the warm process`);
  const done = await work;
  expect(most - before).toBeLessThanOrEqual(GROWTH_MAX);
  return done;
}

beforeAll(async () => {
  publisher = await aPublisher(linking, NETWORK_NAMES);
  const { key: bearer, headers: whose } = publisher;
  own = {
    call: (method, path, { body, headers } = {}) =>
      relay.call(method, path, { bearer, body, headers: { ...whose, ...headers } }),
  };
  // V8 lets about 64 MB of freed buffers lie before it collects them, so a first film of some size warms the process up.
  for (const bytes of [12 * MEGABYTE, MASTODON_BYTES]) {
    const film = await upload(own, aFilm(bytes), { contentType: "video/mp4" });
    const { legs } = await publish(film.url, NETWORK_NAMES);
    expect(legs.map(({ status, error }: never) => [status, error])).toEqual(
      NETWORK_NAMES.map(() => ["succeeded", null]),
    );
    await delay(REST_MS);
    warm = await relay.residentBytes();
    figure(`after a film of ${megabytes(bytes)} MB on all networks`, `${megabytes(warm)} MB`);
  }
}, 240_000);

test(
  "a film of 300 MB arrives at each network that takes it, byte for byte, in bounded memory",
  TIMES,
  async () => {
    const film = largeFilm(FILM_BYTES, "first");
    const file = await uploadFilm(film);
    const taken = NETWORK_NAMES.filter((network) => file.fits[network].ok);
    expect(taken).toEqual(NETWORK_NAMES.filter((network) => network !== "mastodon"));
    expect(file.fits.mastodon.problems).toMatchObject([{ rule: "mastodon.media.size" }]);
    for (const network of taken) {
      front.take(network);
      const post = await bounded(`${network}, 300 MB`, () => publish(file.url, [network]));
      expect(post.legs[0]).toMatchObject({ status: "succeeded", error: null });
      expect(front.take(network)).toEqual({ bytes: film.bytes, sha256: film.sha256 });
    }
  },
);

test(
  "a film of 99 MiB with its index at the end arrives at Mastodon in bounded memory",
  TIMES,
  async () => {
    const film = largeFilm(MASTODON_BYTES, "last");
    const file = await uploadFilm(film);
    expect(file.fits.mastodon.ok).toBe(true);
    const post = await bounded("mastodon, 99 MiB", () => publish(file.url, ["mastodon"]));
    expect(post.legs[0]).toMatchObject({ status: "succeeded", error: null });
    const shown = world.sandbox.posts("mastodon").find(({ text }) => text === post.text);
    expect(shown?.media[0]).toMatchObject({ bytes: film.bytes, sha256: film.sha256 });
  },
);

test(
  "a film of 1 GiB is read in bounded memory, and refused where it is too large",
  TIMES,
  async () => {
    const film = largeFilm(1024 * MEGABYTE, "last");
    const file = await uploadFilm(film);
    expect(file).toMatchObject({ durationSeconds: 4, width: 720, height: 1280 });
    const body = { text: "Large", platforms: NETWORK_NAMES, mediaUrls: [file.url] };
    const { platforms } = dataOf(await own.call("POST", "/v1/posts/validate", { body }));
    for (const network of NETWORK_NAMES) {
      const rules = network === "facebook" ? [] : [`${network}.media.size`];
      const found = [file.fits[network].problems, platforms[network].errors];
      for (const each of found) expect(each.map(({ rule }: never) => rule)).toEqual(rules);
    }
    const post = await bounded("facebook, 1 GiB", () => publish(file.url, ["facebook"]));
    expect(post.legs[0]).toMatchObject({ status: "succeeded", error: null });
    expect(front.take("facebook")).toEqual({ bytes: film.bytes, sha256: film.sha256 });
  },
);

test(
  "eight films of 300 MB at once take two pieces of memory each, in one process",
  TIMES,
  async () => {
    const film = largeFilm(FILM_BYTES, "first");
    const blobs = openBlobs(
      { kind: "connection_string", connectionString: azurite.connectionString },
      FILES_CONTAINER,
    );
    const name = `${prefix}/film`;
    const headers = { "x-ms-blob-type": "BlockBlob", "content-type": "video/mp4" };
    expect(await sendFilm({ url: await blobs.createAddress(name, 600), headers }, film)).toBe(201);
    const lengths: number[] = [];
    const network = await serveFiles({
      "/media": (request, response) => {
        let length = 0;
        request.on("data", (chunk: Buffer) => (length += chunk.length));
        request.on("end", () => {
          lengths.push(length - Number(request.headers["content-length"]));
          response.end("{}");
        });
      },
    });
    const given = [azurite.connectionString, name, `https://${FILES_HOST}/media`];
    const script = fileURLToPath(new URL("passing.ts", import.meta.url));
    const asked = [script, ...given, JSON.stringify(network.settings)];
    const { stdout } = await promisify(execFile)(process.execPath, asked, { timeout: 300_000 });
    await network.close();
    const grown = JSON.parse(stdout) as Record<number, number>;
    for (const count of [1, 8])
      figure(`${count} at once`, `grew by ${megabytes(grown[count] ?? NaN)} MB`);
    expect(lengths).toEqual(Array.from({ length: 10 }, () => 0));
    expect(grown[1]).toBeLessThanOrEqual(GROWTH_MAX);
    expect(grown[8]).toBeLessThanOrEqual(EIGHT_GROWTH_MAX);
  },
);
