import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { sniffType } from "../file-type.ts";
import type { Route, Surroundings } from "../network.ts";
import { blobContentId } from "./content-id.ts";
import { BLOB_BYTES_MAX } from "./identity.ts";
import { blobsOf } from "./post-record.ts";
import type { Sessions } from "./sessions.ts";
import type { BlueskyShared, StoredBlob } from "./state.ts";
import { invalidRequest, requiredParameter, tooManyRequests, xrpcError } from "./xrpc.ts";

const UPLOADS_PER_DAY = 1000;
const BLOBS_MAX = 20_000;

function mismatch(what: string, expected: unknown, got: unknown): string {
  return `Referenced ${what} does not match stored blob. Expected: ${String(expected)}, Got: ${String(got)}`;
}

/** The files of all accounts. A file that no record refers to is temporary, as on the real server. */
export class Blobs {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #sessions: Sessions;

  constructor(shared: BlueskyShared, surroundings: Surroundings, sessions: Sessions) {
    this.#shared = shared;
    this.#surroundings = surroundings;
    this.#sessions = sessions;
  }

  routes(): Route[] {
    return [
      {
        method: "POST",
        path: "/xrpc/com.atproto.repo.uploadBlob",
        name: "uploadBlob",
        bodyMax: BLOB_BYTES_MAX,
        run: (exchange) => this.#upload(exchange),
      },
      {
        method: "GET",
        path: "/xrpc/com.atproto.sync.getBlob",
        name: "getBlob",
        run: (exchange) => this.#get(exchange),
      },
    ];
  }

  find(did: string, cid: string): StoredBlob | undefined {
    return this.#shared.state.blobs.get(`${did} ${cid}`);
  }

  /** Refuses a record that refers to a file which is not there or is another than it says. */
  check(did: string, record: Record<string, unknown>): void {
    for (const use of blobsOf(record)) {
      const blob = this.find(did, use.cid);
      if (blob === undefined)
        throw xrpcError(400, "BlobNotFound", `Could not find blob: ${use.cid}`);
      // Only a file's first use is compared: the reference server trusts what is permanent already.
      if (blob.permanent) continue;
      if (use.mimeType !== blob.mimeType)
        throw xrpcError(400, "InvalidMimeType", mismatch("Mimetype", blob.mimeType, use.mimeType));
      if (use.size !== blob.size)
        throw xrpcError(400, "InvalidSize", mismatch("Size", blob.size, use.size));
    }
  }

  keep(did: string, record: Record<string, unknown>): void {
    for (const { cid } of blobsOf(record)) {
      const blob = this.find(did, cid);
      if (blob !== undefined) blob.permanent = true;
    }
  }

  /** What the real server does some minutes after an upload that no record took up. */
  collectTemporary(): void {
    const { blobs } = this.#shared.state;
    for (const [key, { permanent }] of blobs) if (!permanent) blobs.delete(key);
  }

  async #upload(exchange: Exchange): Promise<Answer> {
    const { did } = await this.#sessions.authorize(exchange, "blob");
    const { body } = exchange;
    const sent = exchange.headers["content-type"];
    if (sent === undefined)
      throw invalidRequest("Request encoding (Content-Type) required but not provided");
    if (body.length === 0) throw invalidRequest("A request body is expected but none was provided");
    const { windows } = this.#surroundings;
    const use = windows.take(`bluesky upload ${did}`, UPLOADS_PER_DAY, 86_400_000);
    if (!use.allowed) return tooManyRequests(use);
    const cid = blobContentId(body);
    const blob = this.find(did, cid) ?? {
      mimeType: sniffType(body) ?? sent,
      size: body.length,
      sha256: "",
      permanent: false,
    };
    this.#hold(`${did} ${cid}`, { ...blob, sha256: this.#surroundings.blobs.put(body) });
    return json(200, {
      blob: { $type: "blob", ref: { $link: cid }, mimeType: blob.mimeType, size: blob.size },
    });
  }

  #hold(key: string, blob: StoredBlob): void {
    const { blobs } = this.#shared.state;
    blobs.set(key, blob);
    const [oldest] = blobs.keys();
    if (oldest !== undefined && blobs.size > BLOBS_MAX) blobs.delete(oldest);
  }

  #get(exchange: Exchange): Answer {
    const blob = this.find(requiredParameter(exchange, "did"), requiredParameter(exchange, "cid"));
    const bytes = blob === undefined ? undefined : this.#surroundings.blobs.get(blob.sha256);
    if (blob === undefined || bytes === undefined)
      throw xrpcError(400, "BlobNotFound", "Blob not found");
    return {
      status: 200,
      headers: {
        "content-type": blob.mimeType,
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
      },
      body: bytes,
    };
  }
}
