import { readFileSync } from "node:fs";
import sharp from "sharp";
import { dataOf } from "./factories.ts";
import type { Answer } from "./relay.ts";
import type { Publisher } from "./publisher.ts";

/** A small picture, which every network takes. */
export const aPicture = (width = 640, height = 640): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: "#3366cc" } })
    .jpeg()
    .toBuffer();

const CLIP = new URL("../../sandbox/media/clip.mp4", import.meta.url);

/** A video of four seconds, followed by a box that players pass over, which makes it as long as is asked for. */
export function aFilm(bytes: number, filling = 0): Buffer {
  const clip = readFileSync(CLIP);
  const box = Buffer.alloc(bytes - clip.length, filling);
  box.writeUInt32BE(box.length, 0);
  box.write("free", 4);
  return Buffer.concat([clip, box]);
}

type FileAnswer = Answer["body"];

interface Announced {
  readonly contentType?: string;
  readonly filename?: string;
  /** How many bytes are announced, if not those that there are. */
  readonly length?: number;
}

/** Announces a file. */
export function announce(
  { call }: Pick<Publisher, "call">,
  bytes: number,
  { contentType = "image/jpeg", filename }: Announced = {},
): Promise<Answer> {
  const body = { contentType, bytes, ...(filename === undefined ? {} : { filename }) };
  return call("POST", "/v1/media", { body });
}

/** Sends the bytes of an announced file to storage. */
export function send({ upload }: FileAnswer, bytes: Uint8Array): Promise<Response> {
  return fetch(upload.url, {
    method: upload.method,
    headers: upload.headers,
    body: Uint8Array.from(bytes),
  });
}

/** Announces a file, sends it, and completes it. Returns the answer of `complete`. */
export async function tryUpload(
  publisher: Pick<Publisher, "call">,
  bytes: Uint8Array,
  announced: Announced = {},
): Promise<Answer> {
  const file = dataOf(await announce(publisher, announced.length ?? bytes.length, announced));
  const sent = await send(file, bytes);
  if (sent.status !== 201) throw new Error(`storage answered ${sent.status}`);
  return await publisher.call("POST", `/v1/media/${file.id}/complete`);
}

/** Uploads a file that has to be ready, and returns it. */
export async function upload(
  publisher: Pick<Publisher, "call">,
  bytes: Uint8Array,
  announced: Announced = {},
): Promise<FileAnswer> {
  return dataOf(await tryUpload(publisher, bytes, announced));
}
