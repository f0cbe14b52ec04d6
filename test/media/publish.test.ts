import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_FACEBOOK_APP } from "../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../sandbox/instagram/state.ts";
import { DEMO_LINKEDIN_APP } from "../../sandbox/linkedin/state.ts";
import type { PublishedMedia } from "../../sandbox/network.ts";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { fittedUrl } from "../../src/shared/media/fitted-url.ts";
import { MEDIA_REPAIRS } from "../../src/shared/networks/contract/media.ts";
import { seal, unseal } from "../../src/shared/runtime/secrets.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { FILES_HOST, serveFiles, whole, type FileServer } from "./file-server.ts";
import { BLUE, rawPhoto, RED, REDUCED, tiffOf } from "./tiffs.ts";
import { colorAt, flag, noisePng, photoWithPlace } from "./pictures.ts";

const HOUR = 3_600_000;
const ALT_TEXTS = ["A flag seen on a walk", "The same flag, scanned"];
const at = (name: string) => `https://${FILES_HOST}/${name}`;

let sandbox: Sandbox;
let files: FileServer;
let relay: Relay;
let door: Server;
let publisher: Publisher;

/** The relay over HTTP, for networks that fetch from it. */
async function openDoor(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").slice("/api".length);
    const serve = async () => {
      const { status, headers, body } = await relay.call(request.method ?? "GET", path);
      const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
      response.writeHead(status, Object.fromEntries(headers)).end(sent);
    };
    serve().catch((error: unknown) => response.writeHead(599).end(String(error)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

beforeAll(async () => {
  files = await serveFiles({
    "/place.jpg": whole(await photoWithPlace(900, 600)),
    "/scan.webp": whole(await flag(900, 600).webp({ lossless: true }).toBuffer()),
    "/noise.png": whole(await noisePng(1_300, 1_000)),
    "/wide.jpg": whole(await flag(1_000, 300).jpeg().toBuffer()),
    "/scan.tiff": whole(
      tiffOf([
        { width: 120, height: 90, color: RED, tags: REDUCED },
        { width: 1_200, height: 900, color: BLUE },
      ]),
    ),
    "/exported.jpg": whole((await flag(1_200, 900).jpeg().toBuffer()).subarray(0, -2)),
    "/upright.jpg": whole(await flag(900, 1_200).jpeg().toBuffer()),
    "/raw.dng": whole(rawPhoto("Camera", { 50_706: 0x0401 })),
    "/photo.bmp": whole(await photoWithPlace(900, 600)),
    "/film.mov": whole(readFileSync(new URL("written/ffmpeg.mov", import.meta.url))),
    "/film.mkv": whole(readFileSync(new URL("written/ffmpeg.mkv", import.meta.url))),
    "/paint.bmp": whole(readFileSync(new URL("written/ffmpeg.bmp", import.meta.url))),
    "/page.jpg": whole(Buffer.from("<!doctype html><title>Sign in</title>")),
  });
  sandbox = await startSandbox({ now: () => relay?.clock.now().getTime() ?? Date.now() });
  door = await openDoor();
  const { port } = door.address() as AddressInfo;
  const hosts = Object.fromEntries(sandbox.hosts.map((host) => [host, sandbox.url]));
  relay = await startRelay({
    settings: {
      ...files.settings,
      OUTBOUND_HOST_MAP: JSON.stringify({ ...hosts, [FILES_HOST]: files.origin }),
      PUBLIC_BASE_URL: `http://127.0.0.1:${port}/api`,
      FACEBOOK_APP_ID: DEMO_FACEBOOK_APP.id,
      FACEBOOK_APP_SECRET: DEMO_FACEBOOK_APP.secret,
      INSTAGRAM_APP_ID: DEMO_INSTAGRAM_APP.id,
      INSTAGRAM_APP_SECRET: DEMO_INSTAGRAM_APP.secret,
      LINKEDIN_CLIENT_ID: DEMO_LINKEDIN_APP.id,
      LINKEDIN_CLIENT_SECRET: DEMO_LINKEDIN_APP.secret,
    },
  });
  publisher = await aPublisher(relay, NETWORK_NAMES);
});
afterAll(async () => {
  await relay.stop();
  await sandbox.stop();
  await files.close();
  door.closeAllConnections();
  door.close();
  await once(door, "close");
});

async function publish(body: object) {
  const accepted = await publisher.submit({ text: unique("Look"), ...body });
  return await publisher.settle(dataOf(accepted).id);
}

async function validate(body: object) {
  const call = { body: { text: unique("Look"), ...body } };
  return dataOf(await publisher.call("POST", "/v1/posts/validate?media=true", call));
}

async function bytesOf({ path }: Pick<PublishedMedia, "path">): Promise<Buffer> {
  return Buffer.from(await (await fetch(sandbox.url + path)).arrayBuffer());
}

/** The rules of repairs alone: a file's name gives rise to warnings of its own. */
function repairsOf(network: NetworkName, rules: readonly string[]): string[] {
  const repairs: readonly string[] = MEDIA_REPAIRS.map((repair) => `${network}.media.${repair}`);
  return rules.filter((rule) => repairs.includes(rule));
}

const REPAIRS: Readonly<Record<NetworkName, readonly string[]>> = {
  facebook: ["metadataRemoved", "converted"],
  instagram: ["metadataRemoved", "converted"],
  linkedin: ["metadataRemoved", "converted"],
  bluesky: ["metadataRemoved"],
  mastodon: ["metadataRemoved"],
};

describe("images that do not fit", () => {
  const body = {
    platforms: [...NETWORK_NAMES],
    mediaUrls: [at("place.jpg"), at("scan.webp")],
    altTexts: ALT_TEXTS,
  };

  test("images that do not fit are published on all five, repaired and described, and every repair is told", async () => {
    sandbox.reset();
    publisher = await aPublisher(relay, NETWORK_NAMES);
    const post = await publish(body);
    expect(
      post.legs.map((leg: { status: string; error: unknown }) => leg.error ?? leg.status),
    ).toEqual(NETWORK_NAMES.map(() => "succeeded"));
    for (const network of NETWORK_NAMES) {
      const media = sandbox.posts(network)[0]?.media ?? [];
      expect(media.map(({ alt }) => alt)).toEqual(ALT_TEXTS);
      for (const published of media) {
        const bytes = await bytesOf(published);
        expect((await sharp(bytes).metadata()).exif).toBeUndefined();
        expect(await colorAt(bytes, 0.1, 0.9)).toBe("red");
        expect(await colorAt(bytes, 0.9, 0.9)).toBe("blue");
      }
      const leg = post.legs.find(({ platform }: { platform: string }) => platform === network);
      const rules = REPAIRS[network].map((repair) => `${network}.media.${repair}`);
      const told = leg.warnings.map(({ rule }: { rule: string }) => rule);
      expect(repairsOf(network, told)).toEqual(rules);
    }
  });

  test("images that do not fit are told about by validation in the same words", async () => {
    const result = await validate(body);
    expect(result.valid).toBe(true);
    for (const network of NETWORK_NAMES) {
      const { warnings } = result.platforms[network];
      const told = warnings.map(({ rule }: { rule: string }) => rule);
      const rules = REPAIRS[network].map((repair) => `${network}.media.${repair}`);
      expect(repairsOf(network, told)).toEqual(rules);
      rules.forEach((rule, mediaIndex) =>
        expect(warnings).toContainEqual(
          expect.objectContaining({ rule, mediaIndex, field: "mediaUrls" }),
        ),
      );
    }
  });

  test("images that do not fit by their bytes come below Bluesky's limit", async () => {
    const post = await publish({ platforms: ["bluesky"], mediaUrls: [at("noise.png")] });
    const [published] = sandbox.posts("bluesky")[0]?.media ?? [];
    expect(published?.bytes).toBeLessThanOrEqual(2_000_000);
    expect(published?.mimeType).toBe("image/jpeg");
    expect(post.legs[0].warnings).toContainEqual(
      expect.objectContaining({
        code: "image_changed",
        rule: "bluesky.media.recompressed",
        message: expect.stringContaining("compressed"),
      }),
    );
  });

  test("images that do not fit and can't be made to fit fail their leg, and validation says so before", async () => {
    const wide = { platforms: ["instagram", "bluesky"], mediaUrls: [at("wide.jpg")] };
    const post = await publish(wide);
    const [instagram, bluesky] = post.legs;
    expect(bluesky.status).toBe("succeeded");
    expect(instagram).toMatchObject({
      status: "failed",
      error: { code: "media_rejected", rule: "instagram.media.ratio", mediaIndex: 0 },
    });
    const result = await validate(wide);
    expect(result.valid).toBe(false);
    expect(result.platforms.instagram.errors).toMatchObject([{ rule: "instagram.media.ratio" }]);
    expect(result.platforms.bluesky.errors).toEqual([]);
  });

  test("because they are no images are refused on all networks that ask us for them", async () => {
    const post = await publish({
      platforms: ["linkedin", "bluesky", "mastodon"],
      mediaUrls: [at("page.jpg")],
    });
    for (const { platform, status, error } of post.legs) {
      expect(status).toBe("failed");
      expect(error).toMatchObject({
        code: "media_rejected",
        rule: `${platform}.media.webPage`,
        message: "The address of the file leads to a web page.",
      });
    }
  });
});

describe("files as people have them", () => {
  const PICTURES = [
    { name: "scan.tiff", colors: ["blue", "blue"], shape: 4 / 3 },
    { name: "exported.jpg", colors: ["red", "blue"], shape: 4 / 3 },
  ] as const;
  test("a scan with a thumbnail and a photo without its end are shown whole on all five", async () => {
    sandbox.reset();
    publisher = await aPublisher(relay, NETWORK_NAMES);
    const mediaUrls = PICTURES.map(({ name }) => at(name));
    const post = await publish({ platforms: [...NETWORK_NAMES], mediaUrls });
    for (const { platform, status, error } of post.legs)
      expect([platform, error ?? status]).toEqual([platform, "succeeded"]);
    for (const network of NETWORK_NAMES) {
      const media = sandbox.posts(network)[0]?.media ?? [];
      expect(media).toHaveLength(PICTURES.length);
      for (const [index, { colors, shape }] of PICTURES.entries()) {
        const bytes = await bytesOf(media[index] ?? { path: "" });
        const { format, width, height } = await sharp(bytes).metadata();
        expect(["jpeg", "tiff"]).toContain(format);
        expect(width).toBeGreaterThanOrEqual(1_080);
        expect(width / height).toBeCloseTo(shape, 2);
        expect(await colorAt(bytes, 0.1, 0.9)).toBe(colors[0]);
        expect(await colorAt(bytes, 0.9, 0.9)).toBe(colors[1]);
        if (format === "jpeg") expect(bytes.subarray(-2).toString("hex")).toBe("ffd9");
      }
    }
  });

  const ofType = (network: string, found: readonly { rule: string }[]) =>
    found.filter(({ rule }) =>
      ["type", "imageType", "typeUnknown"].some((what) => rule === `${network}.media.${what}`),
    );

  test("a guess by a file's name is gone when the file was read and is another", async () => {
    const body = { platforms: [...NETWORK_NAMES], mediaUrls: [at("photo.bmp")] };
    const byName = dataOf(
      await publisher.call("POST", "/v1/posts/validate", {
        body: { text: unique("Look"), ...body },
      }),
    );
    const guessed = NETWORK_NAMES.filter(
      (name) => ofType(name, byName.platforms[name].warnings).length > 0,
    );
    expect(guessed).toEqual(["instagram", "linkedin"]);
    const { platforms } = await validate(body);
    const { legs } = await publish(body);
    for (const { platform, status, warnings } of legs) {
      expect([platform, status, ofType(platform, warnings)]).toEqual([platform, "succeeded", []]);
      expect(ofType(platform, platforms[platform].warnings)).toEqual([]);
    }
  });

  test.each([
    ["film.mov", ["linkedin"]],
    ["film.mkv", ["instagram", "linkedin", "bluesky", "mastodon"]],
    ["paint.bmp", ["instagram", "linkedin", "bluesky", "mastodon"]],
  ] as const)(
    "a file of a type that is not taken is refused once, with what to do: %s",
    async (name, networks) => {
      const body = { platforms: [...networks], mediaUrls: [at(name)] };
      const { platforms } = await validate(body);
      const { legs } = await publish(body);
      expect(legs).toHaveLength(networks.length);
      for (const { platform, error, warnings } of legs) {
        const { errors, warnings: told } = platforms[platform];
        expect(ofType(platform, errors)).toEqual([
          expect.objectContaining({
            mediaIndex: 0,
            remediation: expect.stringMatching(/^(?:Convert|Export)/),
          }),
        ]);
        expect(ofType(platform, told)).toEqual([]);
        const { rule, message } = errors[0];
        expect(error).toMatchObject({ rule, message });
        expect(ofType(platform, warnings)).toEqual([]);
      }
    },
  );

  test("a photo of 3 : 4 is published in its shape, or refused by its rule", async () => {
    sandbox.reset();
    publisher = await aPublisher(relay, NETWORK_NAMES);
    const body = { platforms: [...NETWORK_NAMES], mediaUrls: [at("upright.jpg")] };
    const { platforms } = await validate(body);
    const post = await publish(body);
    for (const { platform, status, error } of post.legs) {
      const [said] = platforms[platform].errors;
      expect([platform, error?.rule ?? null]).toEqual([platform, said?.rule ?? null]);
      if (status !== "succeeded") continue;
      const [published] = sandbox.posts(platform)[0]?.media ?? [];
      const { width, height } = await sharp(await bytesOf(published ?? { path: "" })).metadata();
      expect([platform, width / height]).toEqual([platform, 0.75]);
    }
  });

  test("a raw photo is refused on all five, and its preview is published on none", async () => {
    sandbox.reset();
    publisher = await aPublisher(relay, NETWORK_NAMES);
    const post = await publish({ platforms: [...NETWORK_NAMES], mediaUrls: [at("raw.dng")] });
    for (const { platform, status, error } of post.legs) {
      expect([platform, status]).toEqual([platform, "failed"]);
      expect(error).toMatchObject({
        rule: `${platform}.media.raw`,
        message: expect.stringContaining("raw photo"),
        remediation: expect.stringContaining("JPEG"),
      });
      expect(sandbox.posts(platform)).toEqual([]);
    }
  });
});

describe("an address of ours for a network", () => {
  const image = () => {
    const target = networkOf("instagram").media?.({ text: "", media: [], options: {} }, {}).image;
    if (target === undefined) throw new Error("Instagram has no target");
    return target;
  };
  const address = (name: string, fitted?: { bytes: Uint8Array; contentType: string }) =>
    fittedUrl(relay.services.connections, {
      url: at(name),
      owner: "plt_1",
      target: image(),
      ...(fitted === undefined ? {} : { fitted }),
    });
  const pathOf = (url: string) => new URL(url).pathname.slice("/api".length);
  /** The last character has bits that count for nothing; the one before it has none. */
  const changedEnd = (_: string, last: string) => (last === "A" ? "BA" : "AA");

  test("gives out the image as the network takes it, to be kept for as long as it holds", async () => {
    const answer = await fetch(address("scan.webp"));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("image/jpeg");
    expect(answer.headers.get("cache-control")).toMatch(/^public, max-age=93\d\d\d$/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "jpeg", width: 900 });
    expect(await (await fetch(address("scan.webp"))).arrayBuffer()).toEqual(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    );
  });

  test("holds at a build that knows less than the one that made it", async () => {
    const { dataKeys } = relay.services.config.identity;
    const token = new URL(address("scan.webp")).pathname.split("/").at(-1) ?? "";
    const claims = JSON.parse(unseal(token, "media address", dataKeys) ?? "") as object;
    const later = seal(JSON.stringify({ ...claims, later: "added" }), "media address", dataKeys);
    expect((await relay.call("GET", `/v1/media/public/${later}`)).status).toBe(200);
  });

  test("tells of the image without it where a network only looks", async () => {
    const looked = await fetch(address("scan.webp"), { method: "HEAD" });
    expect([looked.status, looked.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    expect((await looked.arrayBuffer()).byteLength).toBe(0);
  });

  test.each([
    ["is not ours", () => "/v1/media/public/v1.k1.AAAA.BBBB.CCCC"],
    ["was changed", () => pathOf(address("scan.webp")).replace(/(.).$/, changedEnd)],
    [
      "is of something else",
      () =>
        `/v1/media/public/${seal("{}", "another use", relay.services.config.identity.dataKeys)}`,
    ],
    ["is far too long", () => `/v1/media/public/${"x".repeat(7_000)}`],
    ["leads to no file", () => pathOf(address("page.jpg"))],
  ])("an address of ours for a network whose token %s is not found", async (_name, path) => {
    const answer = await relay.call("GET", path());
    expect(answer).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  });

  test("an address of ours for a network whose file can't be had now may be asked for again", async () => {
    const answer = await relay.call("GET", pathOf(address("missing.jpg")));
    expect(answer).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } });
  });

  test("holds for 26 hours and no longer", async () => {
    const path = pathOf(address("scan.webp"));
    relay.advance(26 * HOUR - 60_000);
    expect((await relay.call("GET", path)).status).toBe(200);
    relay.advance(60_000);
    expect((await relay.call("GET", path)).status).toBe(404);
  });

  test("an address of ours for a network that fifty posts have at once is given out as it was made, without its server", async () => {
    const fitted = { bytes: await flag(900, 600).jpeg().toBuffer(), contentType: "image/jpeg" };
    const addresses = Array.from({ length: 50 }, () => address("scan.webp", fitted));
    const before = files.asked.length;
    const answers = await Promise.all(
      addresses.map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())),
    );
    expect(answers.every((bytes) => bytes.equals(fitted.bytes))).toBe(true);
    expect(files.asked).toHaveLength(before);
  });

  test("an address of ours for a network is made again where others have taken its memory", async () => {
    const megabytes = (count: number) => Buffer.alloc(count * 1024 * 1024);
    const first = address("scan.webp", { bytes: megabytes(8), contentType: "image/jpeg" });
    const later = Array.from({ length: 8 }, () =>
      address("scan.webp", { bytes: megabytes(8), contentType: "image/jpeg" }),
    );
    const before = files.asked.length;
    const sizeOf = async (url = "") => (await (await fetch(url)).arrayBuffer()).byteLength;
    expect(await sizeOf(later.at(-1))).toBe(8 * 1024 * 1024);
    expect(files.asked).toHaveLength(before);
    expect(await sizeOf(first)).toBeLessThan(1_000_000);
    expect(files.asked.length).toBeGreaterThan(before);
  });

  test("asked for by many at once is answered or put off, and stays there", async () => {
    const path = pathOf(address("scan.webp"));
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => relay.call("GET", path).then(({ status }) => status)),
    );
    expect(new Set(answers)).toEqual(new Set([200, 503]));
    expect((await relay.call("GET", path)).status).toBe(200);
  });
});
