import { createHash } from "node:crypto";
import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { sniffType } from "../file-type.ts";
import { keep } from "../kept-maps.ts";
import type { Route, Surroundings } from "../network.ts";
import { authorize, limited } from "./access.ts";
import { pictureFacts, videoFacts } from "../media-facts.ts";
import { GIF_PIXELS_MAX, IMAGE_BYTES_MAX, IMAGE_PIXELS_MAX, MIME_TYPES } from "./instance.ts";
import { VIDEO_BYTES_MAX, VIDEO_FRAME_RATE_MAX, VIDEO_PIXELS_MAX } from "./instance.ts";
import { readMultipart } from "./parameters.ts";
import { personalityOf, refusal } from "./personality.ts";
import { nextId } from "./state.ts";
import type { MastodonShared, Media } from "./state.ts";
import { route } from "../network.ts";

const UPLOADS = { name: "media", limit: 30, windowMs: 30 * 60 * 1000 };
/** Room for the other parts of the form beside the largest file. */
const FORM_BYTES_MAX = VIDEO_BYTES_MAX + 1024 * 1024;
const VIDEO_POLLS = 2;

function typeOf(mimeType: string): Media["type"] {
  if (mimeType === "image/gif") return "gifv";
  return mimeType.startsWith("video/") ? "video" : "image";
}

export function mediaEntity(media: Media): Record<string, unknown> {
  const address = `https://${media.host}/system/media_attachments/files/${media.sha256}`;
  const ready = media.pollsLeft === 0;
  return {
    id: media.id,
    type: media.type,
    url: ready ? address : null,
    preview_url: ready ? address : null,
    remote_url: null,
    preview_remote_url: null,
    text_url: null,
    meta: media.focus ? { focus: media.focus } : {},
    description: media.description,
    blurhash: null,
  };
}

/** The name alone makes the id: a file of the same name takes the other's place. */
function idOfName(name: string): string {
  return `${createHash("md5").update(name).digest("hex")}.${name.split(".").at(-1) ?? ""}`;
}

function checkedDescription(host: string, given: unknown): string | null {
  const { descriptionMax } = personalityOf(host);
  if (typeof given !== "string" || given === "") return null;
  // Ruby counts code points.
  if (Array.from(given).length > descriptionMax)
    throw refusal(
      host,
      422,
      `Validation failed: Description is too long (maximum is ${descriptionMax} characters)`,
    );
  return given;
}

/** Why the server accepts no file of this shape, in its words (`check_image_dimension`, `check_video_dimensions`). */
function shapeProblem(mimeType: string, bytes: Buffer): string | undefined {
  if (mimeType.startsWith("image/")) {
    const { width, height } = pictureFacts(bytes) ?? { width: 0, height: 0 };
    const size = `${width}x${height}`;
    if (mimeType === "image/gif" && width * height > GIF_PIXELS_MAX)
      return `${size} GIF files are not supported`;
    return width * height > IMAGE_PIXELS_MAX ? `${size} images are not supported` : undefined;
  }
  const video = videoFacts(bytes);
  if (video === undefined) return undefined;
  const { width, height, framesPerSecond } = video;
  if (width * height > VIDEO_PIXELS_MAX) return `${width}x${height} videos are not supported`;
  return framesPerSecond > VIDEO_FRAME_RATE_MAX
    ? `${Math.floor(framesPerSecond)}fps videos are not supported`
    : undefined;
}

/** Two numbers from -1 to 1 with a comma. */
function checkedFocus(host: string, given: unknown): NonNullable<Media["focus"]> | null {
  if (typeof given !== "string" || given === "") return null;
  const [x = Number.NaN, y = Number.NaN, ...more] = given.split(",").map(Number);
  if (more.length > 0 || !(Math.abs(x) <= 1) || !(Math.abs(y) <= 1))
    throw refusal(host, 422, "Validation failed: Focus is invalid");
  return { x, y };
}

export class MediaRoutes {
  readonly #shared: MastodonShared;
  readonly #surroundings: Surroundings;

  constructor(shared: MastodonShared, surroundings: Surroundings) {
    this.#shared = shared;
    this.#surroundings = surroundings;
  }

  routes(): Route[] {
    const { windows } = this.#surroundings;
    return [
      route(
        "POST /api/v2/media",
        "media",
        (exchange, plan) => limited(windows, exchange, UPLOADS, () => this.#upload(exchange, plan)),
        {
          bodyMax: FORM_BYTES_MAX,
          playsFailures: ["media_processing_failed"],
          magic: async (exchange) => {
            const description = (await readMultipart(exchange))?.get("description");
            return typeof description === "string" ? { text: description, key: "" } : undefined;
          },
        },
      ),
      route("GET /api/v1/media/{id}", "mediaStatus", (exchange) =>
        limited(windows, exchange, undefined, () => this.#look(exchange)),
      ),
      route("GET /system/media_attachments/files/{sha256}", "mediaFile", (exchange) =>
        this.#file(exchange),
      ),
    ];
  }

  async #upload(exchange: Exchange, plan: Plan): Promise<Answer> {
    const { host } = exchange;
    const personality = personalityOf(host);
    const { account } = authorize(this.#shared, exchange, ["write", "write:media"]);
    const form = await readMultipart(exchange);
    const file = form?.get("file");
    if (!(file instanceof File)) throw refusal(host, 422, "Validation failed: File can't be blank");
    const description = checkedDescription(host, form?.get("description"));
    const bytes = Buffer.from(await file.arrayBuffer());
    const mimeType = this.#checkedType(host, file.type, bytes);
    const type = typeOf(mimeType);
    const slow = personality.strict && type !== "image" ? VIDEO_POLLS : 0;
    const failed = plan.failure === "media_processing_failed";
    const media: Media = {
      id: personality.isSmall ? idOfName(file.name) : nextId(this.#shared),
      host,
      accountId: account.id,
      type,
      mimeType,
      bytes: bytes.length,
      sha256: this.#surroundings.blobs.put(bytes),
      description,
      focus: checkedFocus(host, form?.get("focus")),
      pollsLeft: plan.processing ?? (failed ? 1 : slow),
      failed,
      delayed: plan.processing !== undefined,
      statusId: null,
    };
    keep(this.#shared.state.media, media.id, media);
    return json(media.pollsLeft > 0 ? 202 : 200, mediaEntity(media));
  }

  #checkedType(host: string, claimed: string, bytes: Buffer): string {
    const found = sniffType(bytes);
    const { strict, fileBytesMax = Infinity } = personalityOf(host);
    if (bytes.length > fileBytesMax)
      throw refusal(host, 422, "Validation failed: File must be less than that");
    if (!strict) return found ?? claimed;
    if (!MIME_TYPES.includes(claimed))
      throw refusal(host, 422, "Validation failed: File content type is invalid");
    if (found === undefined)
      throw refusal(host, 422, "File type of uploaded media could not be verified");
    if (found !== claimed)
      throw refusal(
        host,
        422,
        "Validation failed: File has contents that are not what they are reported to be",
      );
    const max = found.startsWith("video/") ? VIDEO_BYTES_MAX : IMAGE_BYTES_MAX;
    if (bytes.length > max)
      throw refusal(host, 422, `Validation failed: File must be less than ${max / 1024 / 1024} MB`);
    const problem = shapeProblem(found, bytes);
    if (problem !== undefined) throw refusal(host, 422, problem);
    return found;
  }

  #look(exchange: Exchange): Answer {
    const { host, params } = exchange;
    const { account } = authorize(this.#shared, exchange, ["write", "write:media"]);
    const media = this.#shared.state.media.get(params["id"] ?? "");
    const own = media?.host === host && media.accountId === account.id;
    // A server that is done at once has forgotten the upload as such.
    if (media === undefined || !own || media.statusId !== null || !personalityOf(host).strict)
      throw refusal(host, 404, "Record not found");
    if (media.pollsLeft > 0) media.pollsLeft -= 1;
    if (media.failed) throw refusal(host, 422, "Error processing thumbnail for uploaded media");
    return json(media.pollsLeft > 0 ? 206 : 200, mediaEntity(media));
  }

  #file(exchange: Exchange): Answer {
    const bytes = this.#surroundings.blobs.get(exchange.params["sha256"] ?? "");
    if (bytes === undefined) throw refusal(exchange.host, 404, "Not Found");
    return {
      status: 200,
      headers: {
        "content-type": sniffType(bytes) ?? "application/octet-stream",
        "x-content-type-options": "nosniff",
      },
      body: bytes,
    };
  }
}
