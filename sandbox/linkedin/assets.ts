import { randomBytes } from "node:crypto";
import { inflateSync } from "node:zlib";
import { empty, json, readObject } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import { pictureFacts } from "../media-facts.ts";
import type { Route } from "../network.ts";
import { authorize, checkAuthor, versioned } from "./access.ts";
import { badField, denied, linkedInRefusal } from "./errors.ts";
import { nextNumber } from "./state.ts";
import type { Asset, LinkedInShared, Token, UploadPart } from "./state.ts";

const UPLOAD_MS = 3_600_000;
// learn.microsoft.com/linkedin/marketing/community-management/shares/images-api and …/documents-api
/** "Image should have a pixel count of less than" this number. */
const PIXELS_MAX = 36_152_320;
const GIF_FRAMES_MAX = 250;
const IMAGE_BYTES_MAX = 40_000_000;
/** "no more than … 300 pages" */
const DOCUMENT_PAGES_MAX = 300;
const DOCUMENT_BYTES_MAX = 100_000_000;
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
};
const DOCUMENT_TYPES: readonly { readonly head: string; readonly mimeType: string }[] = [
  { head: "255044462d", mimeType: "application/pdf" },
  { head: "504b0304", mimeType: "application/vnd.openxmlformats-officedocument" },
  { head: "d0cf11e0a1b11ae1", mimeType: "application/msword" },
];

/** The object under the given name of an action's body. */
export function actionBody(exchange: Exchange, name: string): Record<string, unknown> {
  const body = readObject(exchange)?.[name];
  if (typeof body === "object" && body !== null) return body as Record<string, unknown>;
  throw badField(
    name,
    "MISSING_FIELD",
    `Field Value validation failed in REQUEST_BODY: ${name} is required`,
  );
}

export function newAsset(
  shared: LinkedInShared,
  token: Token,
  wanted: {
    readonly kind: Asset["kind"];
    readonly owner: unknown;
    readonly parts?: UploadPart[];
  },
): Asset {
  const { kind, owner, parts = [] } = wanted;
  if (typeof owner !== "string" || !/^urn:li:(person|organization(?:Brand)?):[\w-]+$/.test(owner))
    throw badField("owner", "INVALID_URN_TYPE", "owner must be a person or organization URN");
  checkAuthor(shared, token, owner, `${kind}s.ACTION-initializeUpload`);
  const name = `C4E${nextNumber(shared.state).slice(-6)}${randomBytes(9).toString("base64url")}`;
  const asset: Asset = {
    urn: `urn:li:${kind}:${name}`,
    kind,
    owner,
    memberId: token.memberId,
    uploadKey: randomBytes(24).toString("base64url"),
    uploadUntil: shared.now() + UPLOAD_MS,
    parts,
    uploadToken: "",
    file: null,
    seconds: null,
    pollsLeft: 0,
    delayed: false,
    problem: null,
  };
  keep(shared.state.assets, asset.urn, asset);
  return asset;
}

export function uploadAddress(asset: Asset, part: number): string {
  const name = asset.urn.split(":").at(-1) ?? "";
  return `https://www.linkedin.com/dms-uploads/sp/v2/${name}/uploaded-${asset.kind}/${part}?ca=vector_feedshare&cn=uploads&sync=0&v=beta&ut=${asset.uploadKey}`;
}

export type AssetStatus = "WAITING_UPLOAD" | "PROCESSING" | "AVAILABLE" | "PROCESSING_FAILED";

function assetStatus(asset: Asset): AssetStatus {
  if (asset.file === null) return "WAITING_UPLOAD";
  if (asset.pollsLeft > 0) return "PROCESSING";
  return asset.problem === null ? "AVAILABLE" : "PROCESSING_FAILED";
}

/** A look at the asset brings it on by one step. */
export function look(asset: Asset): AssetStatus {
  const status = assetStatus(asset);
  if (asset.pollsLeft > 0) asset.pollsLeft -= 1;
  return status;
}

/** The asset that an upload address belongs to; refuses one that is wrong, used up or too late. */
export function uploadedAsset(shared: LinkedInShared, exchange: Exchange): Asset {
  const { asset: name, kind: folder } = exchange.params;
  const kind = folder?.replace("uploaded-", "");
  const asset = shared.state.assets.get(`urn:li:${kind}:${name}`);
  if (asset === undefined || exchange.query.get("ut") !== asset.uploadKey)
    throw linkedInRefusal({ status: 403, message: "The upload URL is not valid" });
  if (asset.uploadUntil <= shared.now())
    throw linkedInRefusal({
      status: 400,
      code: "EXPIRED_UPLOAD_URL",
      message: "The upload URL has expired",
    });
  if (exchange.body.length === 0)
    throw linkedInRefusal({ status: 400, message: "The request body is empty" });
  return asset;
}

function checkedImage(bytes: Buffer): { mimeType: string; problem: string | null } {
  const facts = pictureFacts(bytes);
  const mimeType = IMAGE_TYPES[facts?.type ?? ""];
  if (facts === undefined || mimeType === undefined)
    return { mimeType: "application/octet-stream", problem: "The format is not supported" };
  if (facts.frames > GIF_FRAMES_MAX) return { mimeType, problem: "The image has too many frames" };
  const isTooLarge = facts.width * facts.height >= PIXELS_MAX;
  return { mimeType, problem: isTooLarge ? "The image has too many pixels" : null };
}

/** ISO 32000-1, 7.7.3.3: the pages among a PDF's objects, plain or in compressed streams. 0 for other files. */
function pdfPages(bytes: Buffer): number {
  if (!bytes.subarray(0, 8).includes("%PDF-")) return 0;
  const page = /\/Type\s*\/Page\b(?!s)/g;
  const text = bytes.toString("latin1");
  let pages = [...text.matchAll(page)].length;
  for (const { index } of text.matchAll(/\/ObjStm\b/g)) {
    const start = text.indexOf("stream", index) + "stream".length;
    const data = bytes.subarray(start + (text.startsWith("\r\n", start) ? 2 : 1));
    try {
      const { buffer } = inflateSync(data, {
        maxOutputLength: 16_000_000,
        info: true,
      }) as unknown as {
        readonly buffer: Buffer;
      };
      pages += [...buffer.toString("latin1").matchAll(page)].length;
    } catch {
      // Of another compression.
    }
  }
  return pages;
}

function checkedDocument(bytes: Buffer): { mimeType: string; problem: string | null } {
  const head = bytes.subarray(0, 8).toString("hex");
  const known = DOCUMENT_TYPES.find((type) => head.startsWith(type.head));
  if (known === undefined)
    return { mimeType: "application/octet-stream", problem: "The format is not supported" };
  const isLong = pdfPages(bytes) > DOCUMENT_PAGES_MAX;
  return { mimeType: known.mimeType, problem: isLong ? "The document has too many pages" : null };
}

/** One file in one request, by whom it belongs to. What is wrong with it shows in its status. */
export function putFile(shared: LinkedInShared, exchange: Exchange, asset: Asset): Answer {
  const token = authorize(shared, exchange);
  if (token.memberId !== asset.memberId) throw linkedInRefusal(denied("dms-uploads"));
  const { body } = exchange;
  const { mimeType, problem } = asset.kind === "image" ? checkedImage(body) : checkedDocument(body);
  asset.file = { sha256: shared.blobs.put(body), bytes: body.length, mimeType };
  asset.problem = problem;
  return empty(201);
}

export function ownAsset(shared: LinkedInShared, exchange: Exchange, kind: Asset["kind"]): Asset {
  const urn = exchange.params["urn"] ?? "";
  if (!urn.startsWith(`urn:li:${kind}:`))
    throw badField(`${kind}s`, "INVALID_URN_TYPE", `${urn} is no ${kind} URN`);
  const asset = shared.state.assets.get(urn);
  if (asset === undefined)
    throw linkedInRefusal({ status: 404, code: "NOT_FOUND", message: `${urn} is not found` });
  return asset;
}

/** The visible state of an asset. A token that may only post for a member may not look. */
function read(
  shared: LinkedInShared,
  token: Token,
  exchange: Exchange,
  kind: "image" | "document",
): Answer {
  if (!token.scopes.includes("r_organization_social"))
    throw linkedInRefusal(denied(`${kind}s.GET`));
  const asset = ownAsset(shared, exchange, kind);
  checkAuthor(shared, token, asset.owner, `${kind}s.GET`);
  const status = look(asset);
  const address = `https://media.licdn.com/dms/${kind}/${asset.file?.sha256 ?? ""}`;
  return json(200, {
    owner: asset.owner,
    id: asset.urn,
    status,
    ...(status === "AVAILABLE"
      ? { downloadUrl: address, downloadUrlExpiresAt: shared.now() + UPLOAD_MS }
      : {}),
  });
}

function initialize(
  shared: LinkedInShared,
  token: Token,
  exchange: Exchange,
  kind: "image" | "document",
): Answer {
  if (exchange.query.get("action") !== "initializeUpload")
    throw badField("action", "INVALID_VALUE", "The only action here is initializeUpload");
  const { owner } = actionBody(exchange, "initializeUploadRequest");
  const asset = newAsset(shared, token, { kind, owner });
  return json(200, {
    value: {
      uploadUrlExpiresAt: asset.uploadUntil,
      uploadUrl: uploadAddress(asset, 0),
      [kind]: asset.urn,
    },
  });
}

/** Images and documents: an address for one file, the file, and a look at it. */
export function assetRoutes(shared: LinkedInShared): Route[] {
  return (["image", "document"] as const).flatMap((kind): Route[] => [
    versioned(shared, `POST /${kind}s`, `${kind}s`, (_shared, token, exchange) =>
      initialize(shared, token, exchange, kind),
    ),
    versioned(shared, `GET /${kind}s/{urn}`, kind, (_shared, token, exchange) =>
      read(shared, token, exchange, kind),
    ),
  ]);
}

export const ASSET_BYTES_MAX = Math.max(IMAGE_BYTES_MAX, DOCUMENT_BYTES_MAX);
