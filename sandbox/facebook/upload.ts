import { Refusal, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { fetchFile } from "../fetched-file.ts";
import { checkVersion } from "../graph/version.ts";
import { videoFacts } from "../media-facts.ts";
import type { Route } from "../network.ts";
import { findToken, mayUse, success, tokenProblem } from "./access.ts";
import type { FacebookShared, Video } from "./state.ts";
import { route } from "../network.ts";

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

export function uploadRoutes(shared: FacebookShared): Route[] {
  return [
    route(
      "POST /video-upload/{version}/{video}",
      "upload",
      (exchange, plan) => {
        checkVersion(exchange);
        const video = authorizedVideo(shared, exchange);
        const url = exchange.headers["file_url"];
        if (typeof url !== "string" || url === "")
          throw uploadRefusal(400, "InvalidRequestError", "The header file_url is required");
        return pull(shared, video, url, plan);
      },
      { hosts: ["rupload.facebook.com"], bodyMax: VIDEO_BYTES_MAX },
    ),
  ];
}
