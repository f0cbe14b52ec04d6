import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { sniffType } from "../file-type.ts";
import type { Route, Surroundings } from "../network.ts";
import { blobContentId } from "./content-id.ts";
import { BLOB_BYTES_MAX } from "./identity.ts";
import { blobsOf } from "./post-record.ts";
import type { Sessions } from "./sessions.ts";
import type { BlueskyShared, StoredBlob } from "./state.ts";
import { invalidRequest, xrpcError } from "./xrpc.ts";
import { route } from "../network.ts";

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
      route(
        "POST /xrpc/com.atproto.repo.uploadBlob",
        "uploadBlob",
        (exchange) => this.#upload(exchange),
        { bodyMax: BLOB_BYTES_MAX },
      ),
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

  /** What the real server does some minutes after an upload that no record refers to. */
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
}
