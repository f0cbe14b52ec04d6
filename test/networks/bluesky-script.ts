import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import { legsOf } from "./legs.ts";
import { NOW, answer } from "./scripted-tools.ts";

export const DID = `did:plc:${"a".repeat(24)}`;
export const PDS = "https://pds.example";

export const xrpc = (method: "GET" | "POST", name: string, origin = PDS) =>
  `${method} ${origin}/xrpc/${name}`;
export const PUT = xrpc("POST", "com.atproto.repo.putRecord");
export const UPLOAD = xrpc("POST", "com.atproto.repo.uploadBlob");

export const PLC = `GET https://plc.directory/${DID}`;
/** The account's document, which names this server. */
export const documentAt = (serviceEndpoint: string) =>
  answer(200, { id: DID, service: [{ id: "#atproto_pds", serviceEndpoint }] });

export const credentials = {
  did: DID,
  pds: PDS,
  service: PDS,
  accessJwt: "access",
  refreshJwt: "refresh",
  accessExpiresAt: new Date(NOW.getTime() + 3_600_000).toISOString(),
};

export const leg = legsOf({
  account: {
    id: DID,
    username: "alice.test",
    displayName: "Alice",
    avatarUrl: null,
    url: `https://bsky.app/profile/${DID}`,
    kind: "person",
  },
  credentials,
  instanceUrl: PDS,
  remote: bluesky.begin({ key: "leg-1", now: NOW }),
});

export const { rkey } = leg().remote as { rkey: string };
