import { randomUUID } from "node:crypto";
import { SignJWT, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import { bearerToken, json } from "../exchange.ts";
import type { Answer, Exchange, Refusal } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { keep } from "../kept-maps.ts";
import type { Route, Surroundings } from "../network.ts";
import { blobContentId } from "./content-id.ts";
import { PDS_HOST } from "./identity.ts";
import type { Sessions } from "./sessions.ts";
import type { BlueskyShared, VideoJob } from "./state.ts";
import { invalidRequest, requiredParameter, xrpcError } from "./xrpc.ts";
import { route } from "../network.ts";

export const VIDEO_HOST = "video.bsky.app";
const VIDEO_BYTES_MAX = 300_000_000;
const VIDEOS_PER_DAY = 25;
const BYTES_PER_DAY = 10_000_000_000;
const VIDEO_TYPES: ReadonlySet<string> = new Set([
  "video/mp4",
  "video/quicktime",
  "video/webm",
  "video/mpeg",
  "image/gif",
]);
const TOKEN_SECONDS_MAX = 3600;
const TOKEN_SECONDS = 60;
const UPLOAD_METHOD = "com.atproto.repo.uploadBlob";
const LIMITS_METHOD = "app.bsky.video.getUploadLimits";

/** The service beside the accounts' servers that makes videos playable, and what it needs of those servers. */
export class VideoService {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #sessions: Sessions;

  constructor(shared: BlueskyShared, surroundings: Surroundings, sessions: Sessions) {
    this.#shared = shared;
    this.#surroundings = surroundings;
    this.#sessions = sessions;
  }

  routes(): Route[] {
    const hosts = [VIDEO_HOST];
    return [
      route("GET /xrpc/com.atproto.server.getServiceAuth", "getServiceAuth", (exchange) =>
        this.#serviceToken(exchange),
      ),
      route(
        `GET /xrpc/${LIMITS_METHOD}`,
        "getUploadLimits",
        (exchange, plan) => this.#limits(exchange, plan),
        { hosts, playsFailures: ["quota_exceeded", "account_restricted"] },
      ),
      route(
        "POST /xrpc/app.bsky.video.uploadVideo",
        "uploadVideo",
        (exchange, plan) => this.#upload(exchange, plan),
        {
          hosts,
          bodyMax: VIDEO_BYTES_MAX,
          playsFailures: ["media_processing_failed", "media_rejected"],
        },
      ),
      route(
        "GET /xrpc/app.bsky.video.getJobStatus",
        "getJobStatus",
        (exchange) => this.#status(exchange),
        { hosts },
      ),
    ];
  }

  /** The account's server vouches for it towards another service, for one method. */
  async #serviceToken(exchange: Exchange): Promise<Answer> {
    const lxm = exchange.query.get("lxm");
    const account = await this.#sessions.authorize(exchange, `rpc:${lxm ?? "*"}`);
    const audience = requiredParameter(exchange, "aud");
    const now = Math.floor(this.#surroundings.now() / 1000);
    const expires = Number(exchange.query.get("exp") ?? now + TOKEN_SECONDS);
    if (!Number.isInteger(expires) || expires <= now || expires > now + TOKEN_SECONDS_MAX)
      throw xrpcError(400, "BadExpiration", "expiration is in past or too far in the future");
    const token = await new SignJWT(lxm === null ? {} : { lxm })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setIssuer(account.did)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(expires)
      .setJti(randomUUID())
      .sign(this.#secret());
    return json(200, { token });
  }

  #secret(): Buffer {
    return Buffer.from(this.#shared.state.secret, "hex");
  }

  /** The DID that a server vouches for. */
  async #caller(exchange: Exchange, method: string, audience: string): Promise<string> {
    const refused = (message: string): Refusal => xrpcError(401, "AuthenticationRequired", message);
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(bearerToken(exchange) ?? "", this.#secret(), {
        algorithms: ["HS256"],
        audience,
        currentDate: new Date(this.#surroundings.now()),
      }));
    } catch {
      throw refused("Invalid service token");
    }
    if (payload["lxm"] !== method) throw refused(`The service token is not for ${method}`);
    return payload.iss ?? "";
  }

  async #limits(exchange: Exchange, { failure }: Plan): Promise<Answer> {
    await this.#caller(exchange, LIMITS_METHOD, `did:web:${VIDEO_HOST}`);
    if (failure === "quota_exceeded") {
      const message = "User has exceeded the daily upload limit for videos";
      return json(200, { canUpload: false, remainingDailyVideos: 0, message });
    }
    if (failure === "account_restricted")
      return json(200, {
        canUpload: false,
        error: "unconfirmed_email",
        message: "Please confirm your email address to upload videos",
      });
    return json(200, {
      canUpload: true,
      remainingDailyVideos: VIDEOS_PER_DAY,
      remainingDailyBytes: BYTES_PER_DAY,
    });
  }

  async #upload(exchange: Exchange, plan: Plan): Promise<Answer> {
    const caller = await this.#caller(exchange, UPLOAD_METHOD, `did:web:${PDS_HOST}`);
    const { body, headers } = exchange;
    const did = requiredParameter(exchange, "did");
    requiredParameter(exchange, "name");
    if (did !== caller) throw xrpcError(401, "AuthenticationRequired", "The DID is another one");
    const mimeType = headers["content-type"] ?? "";
    if (!VIDEO_TYPES.has(mimeType)) throw invalidRequest(`Unsupported type ${mimeType}`);
    if (body.length === 0) throw invalidRequest("The video is empty");
    if (plan.failure === "media_rejected")
      throw xrpcError(400, "unsupported_video", "The video could not be read");
    const cid = blobContentId(body);
    const { videoJobs } = this.#shared.state;
    const before = [...videoJobs.values()].find(
      (job) => job.did === did && job.cid === cid && job.failure === null,
    );
    if (before !== undefined && before.looksLeft === 0) {
      const message = "Video already processed";
      return json(409, { ...this.#view(before), error: "already_exists", message });
    }
    const job: VideoJob = {
      id: randomUUID(),
      did,
      cid,
      mimeType: "video/mp4",
      size: body.length,
      sha256: this.#surroundings.blobs.put(body),
      looksLeft: plan.processing ?? 1,
      failure: plan.failure === "media_processing_failed" ? "Video processing failed" : null,
    };
    keep(videoJobs, job.id, job);
    return json(200, this.#view(job));
  }

  #status(exchange: Exchange): Answer {
    const job = this.#shared.state.videoJobs.get(requiredParameter(exchange, "jobId"));
    if (job === undefined) throw invalidRequest("Job not found");
    const jobStatus = this.#view(job);
    if (job.looksLeft > 0) job.looksLeft -= 1;
    return json(200, { jobStatus });
  }

  /** A finished job has put the video where the account's own uploads are. */
  #view(job: VideoJob): Record<string, unknown> {
    const { id, did, cid, mimeType, size, sha256 } = job;
    const common = { jobId: id, did };
    if (job.looksLeft > 0) return { ...common, state: "JOB_STATE_ENCODING", progress: 50 };
    if (job.failure !== null)
      return { ...common, state: "JOB_STATE_FAILED", error: "processing", message: job.failure };
    const { blobs } = this.#shared.state;
    const key = `${did} ${cid}`;
    if (!blobs.has(key)) blobs.set(key, { mimeType, size, sha256, permanent: false });
    const blob = { $type: "blob", ref: { $link: cid }, mimeType, size };
    return { ...common, state: "JOB_STATE_COMPLETED", blob };
  }
}
