import { createHash, randomBytes } from "node:crypto";
import { type FollowUps, noFollowUps } from "../follow-ups.ts";
import type { Code } from "../oauth-provider.ts";

export const STRICT_HOST = "mastodon.sandbox.test";
export const LENIENT_HOST = "gotosocial.sandbox.test";
export const AKKOMA_HOST = "akkoma.sandbox.test";
export const SMALL_HOST = "small.sandbox.test";
export const PIXELFED_HOST = "pixelfed.sandbox.test";
export const FRIENDICA_HOST = "friendica.sandbox.test";
export const SHARKEY_HOST = "sharkey.sandbox.test";
export const PLEROMA_HOST = "pleroma.sandbox.test";
export const ICESHRIMP_HOST = "iceshrimp.sandbox.test";
export const FIREFISH_HOST = "firefish.sandbox.test";
/** One server of each kind. */
export const MASTODON_HOSTS = [
  STRICT_HOST,
  LENIENT_HOST,
  AKKOMA_HOST,
  SMALL_HOST,
  PIXELFED_HOST,
  FRIENDICA_HOST,
  SHARKEY_HOST,
  PLEROMA_HOST,
  ICESHRIMP_HOST,
  FIREFISH_HOST,
] as const;
const DEMO_USERNAME = "demo";
const FRIEND_USERNAME = "alice";

export interface Account {
  /** Unique on its host only: the same id may mean someone else on another instance. */
  readonly id: string;
  readonly host: string;
  readonly username: string;
  readonly displayName: string;
}

export interface App {
  readonly id: string;
  readonly host: string;
  readonly name: string;
  readonly website: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
}

export interface Token {
  readonly clientId: string;
  readonly host: string;
  readonly accountId: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  revoked: boolean;
}

export interface Media {
  readonly id: string;
  readonly host: string;
  readonly accountId: string;
  readonly type: "image" | "gifv" | "video";
  readonly mimeType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly description: string | null;
  /** What stays in sight where it is cropped; absent in what was kept before there was any. */
  readonly focus?: { readonly x: number; readonly y: number } | null;
  /** Looks that it takes until the file is ready. */
  pollsLeft: number;
  failed: boolean;
  /** A post already made it wait, so that it does so once. */
  delayed: boolean;
  statusId: string | null;
}

export interface Status {
  readonly id: string;
  readonly host: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly text: string;
  readonly spoilerText: string;
  readonly sensitive: boolean;
  readonly visibility: string;
  readonly language: string;
  readonly mediaIds: readonly string[];
  readonly createdAt: number;
  readonly idempotencyKey: string | null;
}

export interface MastodonState extends FollowUps {
  lastId: string;
  accounts: Account[];
  /** By client id. */
  apps: Map<string, App>;
  codes: Map<string, Code>;
  tokens: Map<string, Token>;
  media: Map<string, Media>;
  /** By status id, oldest first. */
  statuses: Map<string, Status>;
  /** By account and key. */
  idempotency: Map<string, { readonly statusId: string; readonly until: number }>;
}

/** What the network's routes share. `state` is replaced by a reset, so it is always read through here. */
export interface MastodonShared {
  state: MastodonState;
  readonly now: () => number;
}

export function newAccount(host: string, username: string, displayName?: string): Account {
  // From the name alone, so that two instances give the same id to different people, as real ones do.
  const digest = createHash("sha256").update(`sandbox ${username}`).digest();
  const id = String(109_000_000_000_000_000n + (digest.readBigUInt64BE() % 900_000_000_000_000n));
  return { id, host, username, displayName: displayName ?? username };
}

export function freshState(): MastodonState {
  return {
    lastId: "0",
    accounts: MASTODON_HOSTS.flatMap((host) => demoAccounts(host)),
    apps: new Map(),
    codes: new Map(),
    tokens: new Map(),
    media: new Map(),
    statuses: new Map(),
    idempotency: new Map(),
    ...noFollowUps(),
  };
}

function demoAccounts(host: string): Account[] {
  return [
    newAccount(host, DEMO_USERNAME, "Demo Bakery"),
    newAccount(host, FRIEND_USERNAME, "Alice"),
  ];
}

/** The accounts of an instance; an unknown instance is founded with the two demo accounts. */
export function accountsOf(state: MastodonState, host: string): Account[] {
  const found = state.accounts.filter((account) => account.host === host);
  if (found.length > 0) return found;
  const founded = demoAccounts(host);
  state.accounts.push(...founded);
  return founded;
}

export function findAccount(state: MastodonState, host: string, id: string): Account | undefined {
  return accountsOf(state, host).find((account) => account.id === id);
}

/** Snowflake-like and rising: milliseconds, then a counter. */
export function nextId(shared: MastodonShared): string {
  const fromTime = BigInt(shared.now()) << 16n;
  const last = BigInt(shared.state.lastId);
  shared.state.lastId = String(fromTime > last ? fromTime : last + 1n);
  return shared.state.lastId;
}

export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}
