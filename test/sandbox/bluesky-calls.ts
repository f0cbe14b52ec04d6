import { readFileSync } from "node:fs";
import { beforeEach } from "vitest";
import { useSandbox } from "./client.ts";
import type { Reply } from "./client.ts";

export const PDS = "pds.sandbox.test";
export const RKEY = "3mbd3542k2222";
export const PHOTO = readFileSync(new URL("../../dev/networks/media/photo.jpg", import.meta.url));
// A date beyond the second, so that it would show if the record were rewritten.
export const POST = {
  $type: "app.bsky.feed.post",
  text: "Hello",
  createdAt: "2026-11-20T09:00:00.123Z",
};

/** No interface: it is read from an answer, whose fields may be anything. */
export type Session = {
  readonly did: string;
  readonly accessJwt: string;
  readonly refreshJwt: string;
};

/** The sandbox's AT Protocol server for a test file, with a fresh session before every test. */
export function useBluesky(keep?: (fresh: { readonly session: Session }) => void) {
  const at = useSandbox({ enforceRateLimits: true });

  let session: Session;

  function xrpc(
    method: string,
    options: Parameters<typeof at.call>[2] = {},
    host = PDS,
  ): Promise<Reply> {
    return at.call(host, `/xrpc/${method}`, options);
  }

  function logIn(
    identifier = "demo.bsky.social",
    password = "demo-demo-demo-demo",
  ): Promise<Reply> {
    return xrpc(
      "com.atproto.server.createSession",
      { json: { identifier, password } },
      "bsky.social",
    );
  }

  function put(
    record: Record<string, unknown>,
    extra: Record<string, unknown> = {},
  ): Promise<Reply> {
    return xrpc("com.atproto.repo.putRecord", {
      token: session.accessJwt,
      json: {
        repo: session.did,
        collection: POST.$type,
        rkey: RKEY,
        record,
        validate: true,
        ...extra,
      },
    });
  }

  function upload(
    bytes: Uint8Array<ArrayBuffer> = new Uint8Array(PHOTO),
    type = "image/jpeg",
  ): Promise<Reply> {
    return xrpc("com.atproto.repo.uploadBlob", {
      token: session.accessJwt,
      body: bytes,
      headers: { "content-type": type },
    });
  }

  /** From now on within the test. */
  function speakIn(given: Session): void {
    session = given;
    keep?.({ session });
  }
  beforeEach(async () => speakIn((await logIn()).json as typeof session));

  return { at, speakIn, xrpc, logIn, put, upload };
}
