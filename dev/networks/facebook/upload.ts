import { Refusal, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { fetchFile } from "../fetched-file.ts";
import { checkVersion } from "../graph/version.ts";
import { videoFacts } from "../media-facts.ts";
import type { Route } from "../network.ts";
import { findToken, mayUse, success, tokenProblem } from "./access.ts";
import type { FacebookShared, Video } from "./state.ts";

export const VIDEO_BYTES_MAX = 110 * 1024 * 1024;
const UPLOAD_POLLS = 1;

/** The upload host has an envelope of its own. */
function uploadRefusal(status: number, type: string, message: string): Refusal {
  return new Refusal(json(status, { debug_info: { retriable: false, type, message } }));
}

function authorizedVideo(shared: FacebookShared, exchange: Exchange): Video {
  const isOAuth = /^OAuth \S+$/.test(exchange.headers.authorization ?? "");
  const token = isOAuth ? findToken(shared, exchange) : undefined;
  if (token === undefined)
    throw uploadRefusal(
      401,
      "NotAuthorizedError",
      "The Authorization header must be OAuth <token>",
    );
  const problem = tokenProblem(shared, token);
  if (problem !== undefined) throw new Refusal(problem);
  const video = shared.state.videos.get(exchange.params["video"] ?? "");
  if (video === undefined || video.pageId !== token.pageId)
    throw uploadRefusal(404, "ObjectNotFoundError", "There is no such upload session");
  if (!mayUse(shared, token, "pages_manage_posts"))
    throw uploadRefusal(403, "NotAuthorizedError", "Requires pages_manage_posts permission");
  if (video.isUploaded)
    throw uploadRefusal(400, "InvalidRequestError", "The upload session is complete");
  return video;
}

function header(exchange: Exchange, name: string): string | undefined {
  const value = exchange.headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function complete(shared: FacebookShared, video: Video, bytes: Buffer, plan: Plan): void {
  video.received = { sha256: shared.blobs.put(bytes), bytes: bytes.length };
  video.facts = videoFacts(bytes) ?? null;
  video.isUploaded = true;
  video.uploadPollsLeft = plan.processing ?? 0;
}

/** Meta pulls the file; that it could not shows in the video's status. */
async function pull(
  shared: FacebookShared,
  video: Video,
  url: string,
  plan: Plan,
): Promise<Answer> {
  const fetched = await fetchFile(shared, url, VIDEO_BYTES_MAX);
  if (fetched.kind === "file") {
    complete(shared, video, fetched.bytes, {
      ...plan,
      processing: plan.processing ?? UPLOAD_POLLS,
    });
  } else {
    const message = "Unable to fetch video file from URL.";
    video.problem = { phase: "uploading", message };
  }
  return success();
}

/** Bytes from an offset on; an upload that was cut goes on where it ended. */
function push(shared: FacebookShared, exchange: Exchange, video: Video, plan: Plan): Answer {
  const offset = Number(header(exchange, "offset") ?? Number.NaN);
  const size = Number(header(exchange, "file_size") ?? Number.NaN);
  if (!Number.isInteger(offset) || !Number.isInteger(size) || size <= 0)
    throw uploadRefusal(
      400,
      "InvalidRequestError",
      "The headers offset and file_size are required",
    );
  const before = Buffer.from(shared.blobs.get(video.received?.sha256 ?? "") ?? []);
  if (offset !== before.length)
    throw uploadRefusal(400, "OffsetInvalidError", `The offset must be ${before.length}`);
  const bytes = Buffer.concat([before, exchange.body]);
  if (bytes.length > size)
    throw uploadRefusal(400, "InvalidRequestError", "There are more bytes than file_size says");
  if (bytes.length === size) complete(shared, video, bytes, plan);
  else video.received = { sha256: shared.blobs.put(bytes), bytes: bytes.length };
  return success();
}

export function uploadRoutes(shared: FacebookShared): Route[] {
  return [
    {
      method: "POST",
      hosts: ["rupload.facebook.com"],
      path: "/video-upload/{version}/{video}",
      name: "upload",
      bodyMax: VIDEO_BYTES_MAX,
      run: (exchange, plan) => {
        checkVersion(exchange);
        const video = authorizedVideo(shared, exchange);
        const url = header(exchange, "file_url");
        return url === undefined
          ? push(shared, exchange, video, plan)
          : pull(shared, video, url, plan);
      },
    },
  ];
}
