import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Route } from "../network.ts";
import { findAccount } from "./state.ts";
import type { Account, BlueskyShared } from "./state.ts";
import { invalidRequest, requiredParameter } from "./xrpc.ts";
import { route } from "../network.ts";

/** Where the accounts' repositories live: not the host they log in at, as on the real network. */
export const PDS_HOST = "pds.sandbox.test";
export const BLOB_BYTES_MAX = 5 * 1024 * 1024;

export function didDocument(account: Account): Record<string, unknown> {
  return {
    "@context": [
      "https://www.w3.org/ns/did/v1",
      "https://w3id.org/security/multikey/v1",
      "https://w3id.org/security/suites/secp256k1-2019/v1",
    ],
    id: account.did,
    alsoKnownAs: [`at://${account.handle}`],
    verificationMethod: [
      {
        id: `${account.did}#atproto`,
        type: "Multikey",
        controller: account.did,
        publicKeyMultibase: "zQ3shMXhWRTT5oNwbL5iBoJPdQMxe8adDxXprk6dXzugjeR2Y",
      },
    ],
    service: [
      {
        id: "#atproto_pds",
        type: "AtprotoPersonalDataServer",
        serviceEndpoint: `https://${PDS_HOST}`,
      },
    ],
  };
}

function profileView(account: Account): Record<string, unknown> {
  return {
    did: account.did,
    handle: account.handle,
    displayName: account.displayName,
    description: "An account of the sandbox.",
    followersCount: 0,
    followsCount: 0,
    labels: [],
    createdAt: "2026-01-01T00:00:00.000Z",
  };
}

function resolveHandle(shared: BlueskyShared, exchange: Exchange): Answer {
  const handle = requiredParameter(exchange, "handle").toLowerCase();
  if (!/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(handle))
    throw invalidRequest(`Invalid handle (got ${JSON.stringify(handle)}) at $.handle`);
  const account = shared.state.accounts.find((candidate) => candidate.handle === handle);
  if (account === undefined) throw invalidRequest("Unable to resolve handle");
  return json(200, { did: account.did });
}

export function identityRoutes(shared: BlueskyShared): Route[] {
  return [
    route("GET /xrpc/com.atproto.identity.resolveHandle", "resolveHandle", (exchange) =>
      resolveHandle(shared, exchange),
    ),
    route("GET /xrpc/app.bsky.actor.getProfile", "getProfile", (exchange) => {
      const account = findAccount(shared.state, requiredParameter(exchange, "actor"));
      if (account === undefined) throw invalidRequest("Profile not found");
      return json(200, profileView(account));
    }),
    route("GET /xrpc/com.atproto.server.describeServer", "describeServer", () =>
      json(200, {
        did: `did:web:${PDS_HOST}`,
        availableUserDomains: [".bsky.social"],
        inviteCodeRequired: false,
        phoneVerificationRequired: false,
        links: {},
        contact: {},
        blobUploadLimit: BLOB_BYTES_MAX,
      }),
    ),
    route("GET /.well-known/atproto-did", "atprotoDid", ({ host }) => {
      const account = shared.state.accounts.find(({ handle }) => handle === host);
      return account === undefined
        ? { status: 404, headers: { "content-type": "text/plain" }, body: "User not found" }
        : { status: 200, headers: { "content-type": "text/plain" }, body: account.did };
    }),
    route("GET /did:{rest}", "didDocument", ({ params }) => {
      const did = `did:${params["rest"] ?? ""}`;
      const account = shared.state.accounts.find((candidate) => candidate.did === did);
      return account === undefined
        ? json(404, { message: `DID not registered: ${did.slice(0, 200)}` })
        : json(200, didDocument(account), { "content-type": "application/did+ld+json" });
    }),
  ];
}
