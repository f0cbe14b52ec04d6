import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { empty } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import type { Route, Site } from "./network.ts";

export const MEDIA_HOST = "media.sandbox.test";

const FILES: Readonly<Record<string, string>> = {
  "photo.jpg": "image/jpeg",
  "portrait.jpg": "image/jpeg",
  "card.jpg": "image/jpeg",
  "photo.png": "image/png",
  "photo.webp": "image/webp",
  "animation.gif": "image/gif",
  "clip.mp4": "video/mp4",
};
const LARGE_BYTES = 2_600_000;
const HUGE_BYTES = 20_000_000;
const SEGMENT_BYTES = 65_533;
const SLOW_PIECES = 120;
const ENDLESS_BYTES = 512 * 1024 * 1024;

export interface Sample {
  readonly path: string;
  readonly what: string;
}

/** What there is, for the front page. */
export const SAMPLES: readonly Sample[] = [
  { path: "/photo.jpg", what: "a photo, 1200 × 800" },
  {
    path: "/photo-2.jpg",
    what: "the same photo as another file, for albums: any number from 1 to 99",
  },
  { path: "/portrait.jpg", what: "a photo, 1080 × 1350" },
  { path: "/photo.png", what: "a PNG, 600 × 400" },
  { path: "/photo.webp", what: "a WebP, 1200 × 800" },
  { path: "/animation.gif", what: "an animated GIF" },
  { path: "/clip.mp4", what: "a video of 4 seconds with sound, 720 × 1280" },
  { path: "/clip-2.mp4", what: "the same video as another file: any number from 1 to 999999" },
  { path: "/document.pdf", what: "a document of one page" },
  { path: "/large.jpg", what: "a JPEG of 2.6 MB" },
  { path: "/huge.jpg", what: "a JPEG of 20 MB" },
  { path: "/missing.jpg", what: "404" },
  { path: "/broken.jpg", what: "500" },
  { path: "/no-head.jpg", what: "403 for HEAD, the photo for GET" },
  { path: "/wrong-type.jpg", what: "the photo, called text/html" },
  { path: "/not-an-image.jpg", what: "text, called image/jpeg" },
  { path: "/redirect.jpg", what: "redirects to the photo" },
  { path: "/redirect-loop.jpg", what: "redirects to itself" },
  { path: "/redirect-inside.jpg", what: "redirects to a private address" },
  { path: "/no-length.jpg", what: "the photo without a Content-Length" },
  { path: "/cut.jpg", what: "ends before its Content-Length is reached" },
  { path: "/slow.jpg", what: "a byte a second" },
  { path: "/endless.jpg", what: "never ends" },
];

const read = new Map<string, Buffer>();

function fileBytes(name: string): Buffer {
  const known = read.get(name);
  if (known !== undefined) return known;
  const bytes = readFileSync(new URL(`media/${name}`, import.meta.url));
  read.set(name, bytes);
  return bytes;
}

/** The photo with comments in front: a valid JPEG of nearly any size, and another file for every comment. */
function paddedPhoto(comment: string, bytes: number): Buffer {
  const photo = fileBytes("photo.jpg");
  const parts = [photo.subarray(0, 2)];
  let length = photo.length;
  do {
    const text = Buffer.alloc(
      Math.min(SEGMENT_BYTES, Math.max(comment.length, bytes - length)),
      comment,
    );
    const head = Buffer.from([0xff, 0xfe, 0, 0]);
    head.writeUInt16BE(text.length + 2, 2);
    parts.push(head, text);
    length += head.length + text.length;
  } while (length < bytes);
  return Buffer.concat([...parts, photo.subarray(2)]);
}

/** The video with room behind it that no player looks into: networks that recognize files see it as a new one. */
function paddedClip(comment: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(head.length + comment.length);
  head.write("free", 4, "latin1");
  return Buffer.concat([fileBytes("clip.mp4"), head, Buffer.from(comment, "latin1")]);
}

const DOCUMENT = Buffer.from(
  `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`,
  "latin1",
);

/** A file as a good server gives it out, whole or in ranges. */
export function file(exchange: Exchange, bytes: Uint8Array, type: string): Answer {
  const headers = {
    "content-type": type,
    "accept-ranges": "bytes",
    "cache-control": "public, max-age=3600",
    "x-content-type-options": "nosniff",
  };
  const range = /^bytes=(\d+)-(\d*)$/.exec(exchange.headers.range ?? "");
  if (range === null) return { status: 200, headers, body: bytes };
  const start = Number(range[1]);
  const end = Math.min(range[2] === "" ? bytes.length - 1 : Number(range[2]), bytes.length - 1);
  if (start > end) return empty(416, { "content-range": `bytes */${bytes.length}` });
  return {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${start}-${end}/${bytes.length}` },
    body: bytes.subarray(start, end + 1),
  };
}

async function* pieces(
  bytes: Uint8Array,
  size: number,
  pauseMs: number,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    await wait(pauseMs);
  }
}

async function* cut(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* pieces(bytes.subarray(0, 4096), 4096, 5);
  throw new Error("cut on purpose");
}

async function* endless(): AsyncGenerator<Uint8Array> {
  const photo = fileBytes("photo.jpg");
  for (let sent = 0; sent < ENDLESS_BYTES; sent += photo.length) {
    yield photo;
    await wait(1);
  }
}

const JPEG = { "content-type": "image/jpeg" };

function redirect(location: string): Answer {
  return empty(302, { location });
}

type Made = (exchange: Exchange) => Answer;

const MADE: Readonly<Record<string, Made>> = {
  "document.pdf": (exchange) => file(exchange, DOCUMENT, "application/pdf"),
  "large.jpg": (exchange) => file(exchange, paddedPhoto("large ", LARGE_BYTES), "image/jpeg"),
  "huge.jpg": (exchange) => file(exchange, paddedPhoto("huge ", HUGE_BYTES), "image/jpeg"),
  "broken.jpg": () => ({ status: 500, headers: { "content-type": "text/plain" }, body: "broken" }),
  "no-head.jpg": (exchange) =>
    exchange.method === "HEAD" ? empty(403) : file(exchange, fileBytes("photo.jpg"), "image/jpeg"),
  "wrong-type.jpg": (exchange) => file(exchange, fileBytes("photo.jpg"), "text/html"),
  "not-an-image.jpg": (exchange) =>
    file(exchange, Buffer.from("This is no picture at all.\n"), "image/jpeg"),
  "redirect.jpg": () => redirect(`https://${MEDIA_HOST}/photo.jpg`),
  "redirect-loop.jpg": () => redirect(`https://${MEDIA_HOST}/redirect-loop.jpg`),
  "redirect-inside.jpg": () => redirect("http://169.254.169.254/latest/meta-data/"),
  "no-length.jpg": () => ({
    status: 200,
    headers: JPEG,
    body: pieces(fileBytes("photo.jpg"), 16_384, 1),
  }),
  "cut.jpg": () => {
    const photo = fileBytes("photo.jpg");
    const headers = { ...JPEG, "content-length": String(photo.length) };
    return { status: 200, headers, body: cut(photo) };
  },
  "slow.jpg": () => ({
    status: 200,
    headers: JPEG,
    body: pieces(fileBytes("photo.jpg").subarray(0, SLOW_PIECES), 1, 1000),
  }),
  "endless.jpg": () => ({ status: 200, headers: JPEG, body: endless() }),
};

function sample(exchange: Exchange): Answer {
  const name = exchange.params["name"] ?? "";
  const made = Object.hasOwn(MADE, name) ? MADE[name] : undefined;
  if (made !== undefined) return made(exchange);
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (type !== undefined) return file(exchange, fileBytes(name), type);
  if (/^photo-[1-9]\d?\.jpg$/.test(name)) return file(exchange, paddedPhoto(name, 0), "image/jpeg");
  if (/^clip-[1-9]\d{0,5}\.mp4$/.test(name)) return file(exchange, paddedClip(name), "video/mp4");
  return { status: 404, headers: { "content-type": "text/plain" }, body: "not found" };
}

const byName = (path: string): Route => ({ method: "GET", path, name: "sample", run: sample });

/** Files to publish, and addresses that misbehave. */
export const mediaSite: Site = {
  name: "media",
  hosts: [MEDIA_HOST],
  routes: [byName("/{name}"), byName("/_sandbox/media/{name}")],
  notFound: () => ({ status: 404, headers: { "content-type": "text/plain" }, body: "not found" }),
};
