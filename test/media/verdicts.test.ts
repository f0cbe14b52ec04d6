import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Site } from "../../sandbox/network.ts";
import { file } from "../../sandbox/sample-media.ts";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { MEDIA_REPAIRS } from "../../src/shared/networks/contract/media.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { dataOf } from "../setup/factories.ts";
import { casesOf, IS_LONG } from "../setup/long-check.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { serveRelay } from "../setup/relay-server.ts";
import { freePort } from "../setup/free-ports.ts";
import { emptyBoxes, endlessTimes, interlacedPng } from "./bombs.ts";
import { bombPng, flag } from "./pictures.ts";
import { rawPhoto, REDUCED, tiffOf } from "./tiffs.ts";

/** Within the sandbox, so that the networks that fetch files themselves find them. */
const HOST = "files.sandbox.test";
const sample = (name: string) =>
  readFileSync(new URL(`../../sandbox/media/${name}`, import.meta.url));
const ALL_CASES = [
  "animated.webp",
  "cmyk.jpg",
  "motion-photo-place-in-both.jpg",
  "turned.webp",
  "animated.png",
  "matroska.mkv",
  "motion-photo-place-in-film.jpg",
  "transparent.png",
  "turned.png",
];
/** `cases.test.ts` has all of them without a network. */
const CASES = IS_LONG ? ALL_CASES : ALL_CASES.slice(0, 4);
const caseFile = (name: string) => readFileSync(new URL(`cases/${name}`, import.meta.url));
const text = (content: string) => Buffer.from(content, "latin1");
const padded = (head: string) => text(head.padEnd(400, "\u0000"));

/** The film with an edit list that shows only its first seconds, as a phone leaves it. */
function trimmed(film: Buffer, seconds: number): Buffer {
  const bytes = Buffer.from(film);
  const scale = bytes.readUInt32BE(bytes.indexOf("mvhd") + 16);
  for (let at = bytes.indexOf("elst"); at >= 0; at = bytes.indexOf("elst", at + 4))
    bytes.writeUInt32BE(seconds * scale, at + 12);
  return bytes;
}

/** Files by what they are; their addresses tell nothing of it. */
async function makeFiles(): Promise<Readonly<Record<string, Buffer>>> {
  const picture = () => flag(900, 900);
  return {
    text: text("This is no picture at all.\n".repeat(9)),
    html: text("<!doctype html><title>Sign in</title>"),
    pdf: text("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
    "gif-text": text("GIF89a is how this text begins, and no picture follows."),
    "cut-jpeg": (await picture().jpeg().toBuffer()).subarray(0, 900),
    zip: padded("PK\u0003\u0004\u0014"),
    svg: text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'),
    mp3: padded("ID3\u0004"),
    wav: padded("RIFF\u0024\u0000\u0000\u0000WAVEfmt "),
    heic: padded("\u0000\u0000\u0000\u0018ftypheic"),
    webm: padded("\u001a\u0045\u00df\u00a3"),
    avi: padded("RIFF\u0024\u0000\u0000\u0000AVI LIST"),
    empty: Buffer.alloc(0),
    jpeg: await picture().jpeg().toBuffer(),
    png: await picture().png().toBuffer(),
    gif: await picture().gif().toBuffer(),
    webp: await picture().webp().toBuffer(),
    avif: await picture().avif({ effort: 0 }).toBuffer(),
    tiff: await picture().tiff().toBuffer(),
    moving: sample("animation.gif"),
    ...Object.fromEntries(CASES.map((name) => [`case-${name}`, caseFile(name)])),
    raw: rawPhoto("SONY"),
    thumbnail: tiffOf([
      { width: 120, height: 80, tags: REDUCED },
      { width: 600, height: 400 },
    ]),
    unended: (await picture().jpeg().toBuffer()).subarray(0, -2),
    trimmed: trimmed(sample("clip.mp4"), 3),
    wide: await flag(1_000, 300).jpeg().toBuffer(),
    mp4: sample("clip.mp4"),
    bomb: await bombPng(30_000, 30_000),
    interlaced: interlacedPng(8_000, 6_000),
    endless: endlessTimes(sample("clip.mp4")),
    boxes: emptyBoxes(200_000),
  };
}

let made: Readonly<Record<string, Buffer>> = {};
const site: Site = {
  name: "files",
  hosts: [HOST],
  routes: [
    {
      method: "GET",
      path: "/{name}",
      name: "file",
      run(exchange) {
        const name = exchange.params["name"] ?? "";
        const bytes = made[name] ?? made[name.split(".")[0] ?? ""];
        return bytes === undefined
          ? { status: 404, headers: {}, body: "" }
          : file(exchange, bytes, "application/octet-stream");
      },
    },
  ],
  notFound: () => ({ status: 404, headers: {}, body: "" }),
};
const at = (name: string) => `https://${HOST}/${name}`;

let sandbox: Sandbox;
let relay: Relay;
let publisher: Publisher;
let closeDoor: () => Promise<void>;
beforeAll(async () => {
  made = await makeFiles();
  sandbox = await startSandbox({
    now: () => relay?.clock.now().getTime() ?? Date.now(),
    sites: [site],
  });
  const hosts = Object.fromEntries(sandbox.hosts.map((host) => [host, sandbox.url]));
  const port = await freePort();
  relay = await startRelay({
    settings: {
      ...DEMO_APPS,
      OUTBOUND_HOST_MAP: JSON.stringify(hosts),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
      PUBLIC_BASE_URL: `http://127.0.0.1:${port}/api`,
      LEG_RETRY_SECONDS: "5,5",
    },
  });
  const door = await serveRelay(relay, port);
  closeDoor = () => door.close();
  publisher = await aPublisher(relay, NETWORK_NAMES);
});
afterAll(async () => {
  await closeDoor();
  await relay.stop();
  await sandbox.stop();
});

interface Finding {
  readonly code: string;
  readonly rule: string | null;
  readonly message: string;
}
interface Told {
  readonly valid: boolean;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}
interface Ended {
  readonly platform: NetworkName;
  readonly status: string;
  readonly error: Finding | null;
  readonly warnings: readonly { readonly rule: string }[];
}

async function validate(body: object): Promise<Readonly<Record<NetworkName, Told>>> {
  const call = { body: { text: unique("Look"), ...body } };
  return dataOf(await publisher.call("POST", "/v1/posts/validate?media=true", call)).platforms;
}

const ROUNDS_MAX = 200;

/** What became of the legs of all these posts, published side by side. */
async function publish(bodies: readonly object[]): Promise<readonly (readonly Ended[])[]> {
  const ids: string[] = [];
  for (const body of bodies)
    ids.push((await publisher.accept({ text: unique("Look"), ...body })).id);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await relay.drain();
    const posts = await Promise.all(ids.map((id) => publisher.read(id)));
    if (posts.every(({ status }) => status !== "processing")) return posts.map(({ legs }) => legs);
    relay.advance(90_000);
  }
  throw new Error("a post did not end");
}

const repairsOf = (rules: readonly (string | null)[]) =>
  rules
    .filter((rule) => MEDIA_REPAIRS.some((repair) => rule?.endsWith(`.media.${repair}`)))
    .toSorted((one, other) => String(one).localeCompare(String(other)))
    .join();

/** Whether validation said before what became of the leg, and for the same reason. */
function agrees(told: Told, { status, error, warnings }: Ended): boolean {
  if (status === "succeeded") {
    const said = repairsOf(told.warnings.map(({ rule }) => rule));
    return told.valid && said === repairsOf(warnings.map(({ rule }) => rule));
  }
  // An unreachable file breaks no rule of the network's own.
  const isSame = ({ code, rule, message }: Finding) =>
    code === error?.code &&
    ((rule === error.rule && message === error.message) || code === "media_unreachable");
  return status === "failed" && !told.valid && told.errors.some(isSame);
}

/** Where the network alone finds out, once it has the file. */
const FOUND_BY_THE_NETWORK: readonly string[] = [
  // These have the beginning of a video and no more; types are left to Facebook.
  "webm on facebook",
  "avi on facebook",
  "case-matroska.mkv on facebook",
  // To Facebook a file of no bytes is there and can't be read, to us it is not there.
  "empty on facebook",
];

/** What validation said of each body, and where that is not what happened. */
async function compare(bodies: Readonly<Record<string, object>>) {
  const told: Readonly<Record<NetworkName, Told>>[] = [];
  for (const body of Object.values(bodies)) told.push(await validate(body));
  const ended = await publish(Object.values(bodies));
  const disagreements = Object.keys(bodies).flatMap((name, index) =>
    (ended[index] ?? []).flatMap((leg) => {
      const said = told[index]?.[leg.platform];
      if (said !== undefined && agrees(said, leg)) return [];
      if (FOUND_BY_THE_NETWORK.includes(`${name} on ${leg.platform}`)) return [];
      return [
        `${name} on ${leg.platform}: ${JSON.stringify(said)}, ${leg.status} ${JSON.stringify([leg.error, leg.warnings])}`,
      ];
    }),
  );
  return {
    told: new Map(Object.keys(bodies).map((name, index) => [name, told[index]])),
    disagreements,
  };
}

const TAKEN_NOWHERE = [
  "text",
  "html",
  "raw",
  "zip",
  "svg",
  "empty",
  "bomb",
  "interlaced",
  "endless",
  "boxes",
  "gif-text",
  "cut-jpeg",
];

/** These take as long as a file may. */
const SLOW: readonly string[] = ["bomb", "interlaced", "endless", "boxes"];

describe("what validation says of a file is what publishing does with it", () => {
  test("whatever it is, on every network", { timeout: 240_000 }, async () => {
    const networksOf = (kind: string) =>
      SLOW.includes(kind) ? casesOf(NETWORK_NAMES, 2) : NETWORK_NAMES;
    const bodies = Object.fromEntries(
      [...Object.keys(made), "missing"].map((kind) => [
        kind,
        { platforms: [...networksOf(kind)], mediaUrls: [at(kind)] },
      ]),
    );
    const { told, disagreements } = await compare(bodies);
    expect(disagreements).toEqual([]);
    const saidOf = (kind: string) => Object.entries(told.get(kind) ?? {});
    for (const [kinds, isRight] of [
      [TAKEN_NOWHERE, false],
      [["jpeg", "png", "webp", "mp4"], true],
    ] as const)
      for (const kind of kinds) {
        expect(saidOf(kind), kind).toHaveLength(networksOf(kind).length);
        for (const [network, { valid }] of saidOf(kind))
          expect(valid, `${kind} on ${network}`).toBe(isRight);
      }
  });

  test.runIf(IS_LONG)(
    "validation and publishing agree by other names and with other files",
    { timeout: 240_000 },
    async () => {
      const on = (mediaUrls: readonly string[], more: object = {}) => ({
        platforms: [...NETWORK_NAMES],
        mediaUrls: mediaUrls.map(at),
        ...more,
      });
      const forms = (kind: string) => ({
        platforms: ["facebook", "instagram"],
        platformOptions: { facebook: { kind }, instagram: { kind } },
      });
      const { disagreements } = await compare({
        "a video by the name of a picture": on(["mp4.jpg"]),
        "a picture by the name of a video": on(["jpeg.mp4"]),
        "text by the name of a video": on(["text.mp4"]),
        "a document by the name of a picture": on(["pdf.jpg"]),
        "a document with a title": {
          platforms: ["linkedin"],
          mediaUrls: [at("pdf.pdf")],
          platformOptions: { linkedin: { documentTitle: "Menu" } },
        },
        "a picture and a video": on(["jpeg", "mp4"]),
        "a picture and text": on(["jpeg", "text"]),
        "a picture and a document": on(["png", "pdf"]),
        "two pictures": on(["png", "webp"]),
        "a reel of a picture": { ...forms("reel"), mediaUrls: [at("jpeg.mp4")] },
        "a reel of a video": { ...forms("reel"), mediaUrls: [at("mp4.mp4")] },
        "a story of a video": { ...forms("story"), mediaUrls: [at("mp4")] },
        "a story of text": { ...forms("story"), mediaUrls: [at("text")] },
      });
      expect(disagreements).toEqual([]);
    },
  );

  test("the same each time, for a video of very many pieces", async () => {
    const body = { platforms: ["mastodon"], mediaUrls: [at("boxes")] };
    for (let time = 0; time < 3; time += 1)
      expect((await validate(body)).mastodon.errors).toMatchObject([
        {
          code: "media_rejected",
          rule: "mastodon.media.time",
          message: "The file takes too long to process.",
        },
      ]);
  });

  test("validation uses the network's own words where it has some", async () => {
    const told = await validate({ platforms: ["linkedin"], mediaUrls: [at("zip")] });
    expect(told.linkedin.errors).toMatchObject([
      {
        code: "media_rejected",
        rule: "linkedin.media.type",
        message:
          "LinkedIn accepts JPEG, PNG and GIF pictures, MP4 videos, and PDF, Word and PowerPoint documents.",
        field: "mediaUrls",
        mediaIndex: 0,
      },
    ]);
  });
});
