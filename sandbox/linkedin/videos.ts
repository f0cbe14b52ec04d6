import { createHash } from "node:crypto";
import { empty, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { videoFacts } from "../media-facts.ts";
import type { Route } from "../network.ts";
import { checkAuthor, versioned } from "./access.ts";
import {
  ASSET_BYTES_MAX,
  actionBody,
  look,
  newAsset,
  ownAsset,
  putFile,
  uploadAddress,
  uploadedAsset,
} from "./assets.ts";
import { badField, linkedInRefusal } from "./errors.ts";
import type { Asset, LinkedInShared, Token, UploadPart } from "./state.ts";
import { route } from "../network.ts";

const PART_BYTES = 4 * 1024 * 1024;
/** learn.microsoft.com/linkedin/marketing/community-management/shares/videos-api: MP4, 75 KB to 500 MB, 3 s to 30 min. */
const BYTES = { min: 75_000, max: 500_000_000 };
const SECONDS = { min: 3, max: 30 * 60 };
const PROCESSING_POLLS = 2;

function partsOf(size: number): UploadPart[] {
  return Array.from({ length: Math.ceil(size / PART_BYTES) }, (_part, index) => ({
    firstByte: index * PART_BYTES,
    lastByte: Math.min((index + 1) * PART_BYTES, size) - 1,
    sha256: null,
    etag: null,
  }));
}

function initialize(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  const { owner, fileSizeBytes } = actionBody(exchange, "initializeUploadRequest");
  const isSize = typeof fileSizeBytes === "number" && Number.isInteger(fileSizeBytes);
  if (!isSize || fileSizeBytes < 1)
    throw badField("fileSizeBytes", "MISSING_FIELD", "fileSizeBytes is required");
  if (fileSizeBytes > BYTES.max)
    throw badField("fileSizeBytes", "INVALID_VALUE", "The video is larger than 500 MB");
  const asset = newAsset(shared, token, { kind: "video", owner, parts: partsOf(fileSizeBytes) });
  return json(200, {
    value: {
      uploadUrlsExpireAt: asset.uploadUntil,
      video: asset.urn,
      uploadInstructions: asset.parts.map(({ firstByte, lastByte }, index) => ({
        uploadUrl: uploadAddress(asset, index),
        firstByte,
        lastByte,
      })),
      uploadToken: asset.uploadToken,
    },
  });
}

/** A range of the video. Its address is signed: a token beside it confuses the store behind. */
function putPart(shared: LinkedInShared, exchange: Exchange, asset: Asset): Answer {
  if (exchange.headers.authorization !== undefined)
    throw linkedInRefusal({
      status: 400,
      message: "The Authorization header must not be sent to a signed upload URL",
    });
  if (exchange.headers["content-type"] !== "application/octet-stream")
    throw linkedInRefusal({ status: 415, message: "Unsupported Media Type" });
  const part = asset.parts[Number(exchange.params["part"])];
  if (part === undefined)
    throw linkedInRefusal({ status: 403, message: "The upload URL is not valid" });
  if (exchange.body.length !== part.lastByte - part.firstByte + 1)
    throw linkedInRefusal({
      status: 400,
      message: `The part must have ${part.lastByte - part.firstByte + 1} bytes`,
    });
  part.sha256 = shared.blobs.put(exchange.body);
  const digest = createHash("sha256").update(`${asset.urn} ${part.sha256}`).digest("base64url");
  part.etag = `/ambry-video/signedId/${digest}.bin`;
  return empty(200, { etag: part.etag });
}

function problemOf(shared: LinkedInShared, asset: Asset, bytes: Buffer): string | null {
  const facts = videoFacts(bytes);
  asset.seconds = facts?.seconds ?? null;
  if (facts === undefined || facts.isQuickTime) return "The video format is not supported";
  if (bytes.length < BYTES.min) return "The video is smaller than 75 KB";
  const isLength = facts.seconds >= SECONDS.min && facts.seconds <= SECONDS.max;
  return isLength ? null : "The video is not between 3 seconds and 30 minutes long";
}

function finalize(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  const request = actionBody(exchange, "finalizeUploadRequest");
  const { video: urn, uploadToken, uploadedPartIds } = request;
  const asset = shared.state.assets.get(String(urn));
  if (asset?.kind !== "video")
    throw linkedInRefusal({ status: 404, code: "NOT_FOUND", message: "The video is not found" });
  checkAuthor(shared, token, asset.owner, "videos.ACTION-finalizeUpload");
  if (uploadToken !== asset.uploadToken)
    throw badField("uploadToken", "INVALID_VALUE", "The uploadToken is not that of the upload");
  const sent = Array.isArray(uploadedPartIds) ? uploadedPartIds.map(String) : [];
  const isComplete =
    sent.length === asset.parts.length &&
    asset.parts.every(({ etag }, index) => etag !== null && etag === sent[index]);
  if (!isComplete)
    throw badField(
      "uploadedPartIds",
      "INVALID_VALUE",
      "The uploadedPartIds are not complete and in order",
    );
  if (asset.file !== null) return empty(200);
  const bytes = Buffer.concat(
    asset.parts.map(({ sha256 }) => shared.blobs.get(sha256 ?? "") ?? new Uint8Array()),
  );
  asset.problem = problemOf(shared, asset, bytes);
  asset.file = { sha256: shared.blobs.put(bytes), bytes: bytes.length, mimeType: "video/mp4" };
  asset.pollsLeft = PROCESSING_POLLS;
  return empty(200);
}

function act(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  switch (exchange.query.get("action")) {
    case "initializeUpload":
      return initialize(shared, token, exchange);
    case "finalizeUpload":
      return finalize(shared, token, exchange);
    default:
      throw badField("action", "INVALID_VALUE", "The action is initializeUpload or finalizeUpload");
  }
}

function read(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  const asset = ownAsset(shared, exchange, "video");
  checkAuthor(shared, token, asset.owner, "videos.GET");
  const status = look(asset);
  const { owner, urn, problem, seconds } = asset;
  return json(200, {
    owner,
    id: urn,
    status,
    ...(seconds === null ? {} : { duration: Math.round(seconds * 1000) }),
    ...(status === "PROCESSING_FAILED" ? { processingFailureReason: problem } : {}),
  });
}

/** Videos in parts, and the one address under which files of every kind arrive. */
export function videoRoutes(shared: LinkedInShared): Route[] {
  return [
    versioned(shared, "POST /videos", "videos", act),
    versioned(shared, "GET /videos/{urn}", "video", read),
    route(
      "PUT /dms-uploads/sp/v2/{asset}/{kind}/{part}",
      "upload",
      (exchange) => {
        const asset = uploadedAsset(shared, exchange);
        return asset.kind === "video"
          ? putPart(shared, exchange, asset)
          : putFile(shared, exchange, asset);
      },
      { hosts: ["www.linkedin.com"], bodyMax: ASSET_BYTES_MAX },
    ),
  ];
}
