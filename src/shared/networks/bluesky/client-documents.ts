import { objectShape } from "../contract/fields.ts";
import * as z from "zod";
import type { NetworkApp, ServiceIdentity } from "../contract/settings.ts";
import type { NetworkDocument } from "../contract/network.ts";

// Rights to write to a collection of the account (https://atproto.com/specs/permission#repo). `update` is asked for because
// the server checks it for the call that writes a record under a key of ours.
const POSTS = "repo:app.bsky.feed.post?action=create&action=update";
const DELETION = "repo:app.bsky.feed.post?action=delete";
/**
 * Requested so that nobody has to link again for deleting posts and for choosing who may answer and quote. Neither
 * linking nor publishing needs them.
 */
const EXTRAS = [
  DELETION,
  "repo:app.bsky.feed.threadgate?action=create&action=delete",
  "repo:app.bsky.feed.postgate?action=create&action=delete",
];
const FILES =
  "blob:*/* rpc:com.atproto.repo.uploadBlob?aud=* rpc:app.bsky.video.getUploadLimits?aud=*";

export const GRANULAR_SCOPE = `atproto ${POSTS} ${EXTRAS.join(" ")} ${FILES}`;
/** For servers without finer scopes. */
export const BROAD_SCOPE = "atproto transition:generic";
/** A client may only request what its document names. */
const ALL_SCOPES = `${GRANULAR_SCOPE} transition:generic`;

function rightsIn(scope: string) {
  const [name = "", query = ""] = scope.split("?", 2);
  const given = new URLSearchParams(query);
  const named = name.startsWith("repo:") ? [name.slice("repo:".length)] : [];
  const collections = name === "repo" ? given.getAll("collection") : named;
  return { collections, actions: given.getAll("action") };
}

/** Returns whether scopes allow all that a wanted one does. */
function allow(scopes: readonly string[], wanted: string): boolean {
  const { collections, actions } = rightsIn(wanted);
  const granted = scopes
    .map(rightsIn)
    .filter((right) => ["*", ...collections].some((name) => right.collections.includes(name)));
  return actions.every((action) =>
    granted.some((right) => right.actions.length === 0 || right.actions.includes(action)),
  );
}

/** Reports whether posts with files may be written. */
export function allowsPosting(scopes: readonly string[]): boolean {
  if (scopes.includes("transition:generic")) return true;
  return allow(scopes, POSTS) && scopes.some((scope) => scope.startsWith("blob"));
}

/** Returns the extras that were not granted. An app password has no scopes, and may do everything that these allow. */
export function missingScopes(scopes: readonly string[], wanted = EXTRAS): readonly string[] {
  if (scopes.length === 0 || scopes.includes("transition:generic")) return [];
  return wanted.filter((scope) => !allow(scopes, scope));
}

/** Returns the rights for removing a post that were not granted. */
export const missingForRemoval = (scopes: readonly string[]) => missingScopes(scopes, [DELETION]);

/** The address of the metadata document is also the client's id. */
const METADATA_FILE = "client-metadata.json";
const KEYS_FILE = "jwks.json";
const DOCUMENTS_PATH = "/v1/connect/bluesky";
const CALLBACK_PATH = "/v1/connect/callback/bluesky";

const grants = {
  grant_types: ["authorization_code", "refresh_token"] as ["authorization_code", "refresh_token"],
  response_types: ["code"] as ["code"],
  scope: ALL_SCOPES,
  dpop_bound_access_tokens: true,
};

/**
 * Reports whether the client has documents. One with a public address does, and proves itself with a key. One on a
 * developer's machine has none.
 */
export function hasDocuments({ id }: NetworkApp): boolean {
  return id.startsWith("https:");
}

/** Makes the client metadata document (https://atproto.com/specs/oauth#client-id-metadata-document). */
export function clientMetadata({ id: baseUrl }: NetworkApp, service: ServiceIdentity) {
  const clientId = `${baseUrl}${DOCUMENTS_PATH}/${METADATA_FILE}` as `https://${string}/${string}`;
  // The service's page if it is on the client's own host, as servers require, or else that host's origin.
  const base = new URL(baseUrl);
  const isOwn = service.url.startsWith("https:") && new URL(service.url).host === base.host;
  return {
    client_id: clientId,
    client_name: service.name,
    client_uri: (isOwn ? service.url : base.origin) as `https://${string}`,
    redirect_uris: [`${baseUrl}${CALLBACK_PATH}`] as [`https://${string}`],
    ...grants,
    application_type: "web" as const,
    token_endpoint_auth_method: "private_key_jwt" as const,
    token_endpoint_auth_signing_alg: "ES256",
    jwks_uri: `${baseUrl}${DOCUMENTS_PATH}/${KEYS_FILE}` as `https://${string}`,
  };
}

/** Makes the metadata of a client without a document. Its id contains everything about it. */
export function loopbackMetadata(redirectUri: string, { name }: ServiceIdentity) {
  const query = new URLSearchParams({ redirect_uri: redirectUri, scope: ALL_SCOPES });
  return {
    client_id: `http://localhost?${query.toString()}`,
    client_name: name,
    redirect_uris: [redirectUri] as [`http://127.0.0.1${string}`],
    ...grants,
    application_type: "native" as const,
    token_endpoint_auth_method: "none" as const,
  };
}

/**
 * Returns the redirect address with 127.0.0.1 instead of `localhost`, which the network doesn't accept (RFC 8252,
 * section 8.3).
 */
export function loopbackAddress(redirectUri: string): string {
  return redirectUri.replace(/^http:\/\/localhost(?=[:/])/, "http://127.0.0.1");
}

const publicKey = objectShape(() => ({
  kty: z.string(),
  crv: z.string(),
  x: z.string(),
  y: z.string(),
  kid: z.string(),
}));

/**
 * Returns the key set that the metadata names: the public half of the key, field by field, so that nothing else can
 * leak.
 */
export function publicKeys({ secret }: NetworkApp) {
  const { kty, crv, x, y, kid } = publicKey().parse(JSON.parse(secret));
  return { keys: [{ kty, crv, x, y, kid, alg: "ES256", use: "sig" }] };
}

/** The documents by which the network's servers know this service. */
export const clientDocuments: readonly NetworkDocument[] = [
  {
    file: METADATA_FILE,
    reference: {
      operationId: "getBlueskyClientMetadata",
      summary: "This service as an OAuth client of the AT Protocol",
      description: "There is none where accounts are linked by app password alone.",
    },
    make: (app, service) => (hasDocuments(app) ? clientMetadata(app, service) : undefined),
  },
  {
    file: KEYS_FILE,
    reference: {
      operationId: "getBlueskyClientKeys",
      summary: "The public keys by which this service proves itself as that client",
    },
    make: (app) => (hasDocuments(app) ? publicKeys(app) : undefined),
  },
];
