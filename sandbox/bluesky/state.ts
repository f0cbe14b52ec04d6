import { createHash, randomBytes } from "node:crypto";
import { type FollowUps, noFollowUps } from "../follow-ups.ts";
import type { Asked, Code } from "../oauth-provider.ts";

/** Login of the account that is always there. */
export const DEMO_HANDLE = "demo.bsky.social";
export const DEMO_APP_PASSWORD = "demo-demo-demo-demo";
/** A second account, to be mentioned and to post beside the first. */
export const FRIEND_HANDLE = "alice.test";
export const FRIEND_APP_PASSWORD = "alic-alic-alic-alic";

export interface Account {
  readonly did: string;
  handle: string;
  readonly email: string;
  readonly displayName: string;
  appPasswords: string[];
}

export interface Session {
  readonly id: string;
  readonly did: string;
  refreshId: string;
  previous: { readonly refreshId: string; readonly graceUntil: number } | null;
}

/** An authorization request as the client pushed it. */
export interface PushedRequest extends Asked {
  readonly expiresAt: number;
}

/** What an owner allowed a client. */
export interface Grant {
  readonly id: string;
  readonly did: string;
  readonly clientId: string;
  readonly thumbprint: string;
  readonly scope: string;
  /** The code that it was exchanged for. */
  readonly code: string;
  refreshId: string;
  tokenId: string;
}

/** A video on its way through the video service. */
export interface VideoJob {
  readonly id: string;
  readonly did: string;
  readonly cid: string;
  readonly mimeType: string;
  readonly size: number;
  readonly sha256: string;
  /** Looks at it that are still answered with "processing". */
  looksLeft: number;
  failure: string | null;
}

export interface StoredRecord {
  readonly did: string;
  readonly collection: string;
  readonly rkey: string;
  cid: string;
  value: Record<string, unknown>;
  readonly publishedAt: number;
  edits: number;
}

export interface StoredBlob {
  readonly mimeType: string;
  readonly size: number;
  readonly sha256: string;
  /** Referenced by a record: never collected. */
  permanent: boolean;
}

export interface BlueskyState extends FollowUps {
  secret: string;
  /** Access tokens of an older epoch count as expired. */
  accessEpoch: number;
  accounts: Account[];
  sessions: Session[];
  /** Sessions that were ended by force: their access tokens are refused at once. */
  killedSessions: string[];
  /** By at-uri, oldest first. */
  records: Map<string, StoredRecord>;
  /** By DID and CID, with a space between. */
  blobs: Map<string, StoredBlob>;
  /** By `request_uri`. */
  pushed: Map<string, PushedRequest>;
  codes: Map<string, Code>;
  grants: Map<string, Grant>;
  videoJobs: Map<string, VideoJob>;
}

export interface NewAccount {
  readonly handle: string;
  readonly appPassword: string;
  readonly displayName?: string;
  readonly email?: string;
}

/** A did:plc that stays the same for one handle over all starts. */
function didFor(handle: string): string {
  const digits = "abcdefghijklmnopqrstuvwxyz234567";
  const hash = createHash("sha256").update(`sandbox ${handle}`).digest();
  return `did:plc:${[...hash.subarray(0, 24)].map((byte) => digits[byte & 31]).join("")}`;
}

export function newAccount(account: NewAccount): Account {
  const handle = account.handle.toLowerCase();
  return {
    did: didFor(handle),
    handle,
    email: account.email ?? `${handle.split(".")[0]}@sandbox.test`,
    displayName: account.displayName ?? handle,
    appPasswords: [account.appPassword],
  };
}

export function freshState(): BlueskyState {
  return {
    secret: randomBytes(32).toString("hex"),
    accessEpoch: 0,
    accounts: [
      newAccount({
        handle: DEMO_HANDLE,
        appPassword: DEMO_APP_PASSWORD,
        displayName: "Demo Bakery",
      }),
      newAccount({ handle: FRIEND_HANDLE, appPassword: FRIEND_APP_PASSWORD, displayName: "Alice" }),
    ],
    sessions: [],
    killedSessions: [],
    records: new Map(),
    blobs: new Map(),
    pushed: new Map(),
    codes: new Map(),
    grants: new Map(),
    videoJobs: new Map(),
    ...noFollowUps(),
  };
}

/** By handle, DID or email, as the login accepts them. */
export function findAccount(state: BlueskyState, identifier: string): Account | undefined {
  const wanted = identifier.toLowerCase();
  return state.accounts.find(
    ({ did, handle, email }) => did === identifier || handle === wanted || email === wanted,
  );
}

/** What the network's routes share. `state` is replaced by a reset, so it is always read through here. */
export interface BlueskyShared {
  state: BlueskyState;
}
