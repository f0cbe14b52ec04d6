import { randomBytes } from "node:crypto";
import { type FollowUps, noFollowUps } from "../follow-ups.ts";
import type { Surroundings } from "../network.ts";
import type { Code } from "../oauth-provider.ts";

/** The app that the sandbox knows from the start, for the relay's settings: the Instagram app, not the Facebook one. */
export const DEMO_INSTAGRAM_APP = {
  id: "130000000000001",
  secret: "8c41de90ab7746f2b3c5d6e7f8091a2b",
} as const;

export const DEMO_ACCOUNT = "17841400000000001";
const CREATOR_ACCOUNT = "17841400000000002";
/** Can log in, and can't publish. */
export const PERSONAL_ACCOUNT = "17841400000000003";

export interface Account {
  /** What paths want. */
  readonly userId: string;
  /** The same account as this app alone knows it: of no use in paths. */
  readonly scopedId: string;
  readonly username: string;
  readonly name: string;
  readonly type: "BUSINESS" | "MEDIA_CREATOR" | "PERSONAL";
  restricted: boolean;
}

export interface Token {
  readonly appId: string;
  readonly userId: string;
  permissions: string[];
  readonly isLongLived: boolean;
  readonly issuedAt: number;
  expiresAt: number;
  /** Meta's subcode for why it was ended early. */
  endedBy: number | null;
}

export interface StoredFile {
  readonly kind: "image" | "video";
  readonly mimeType: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface Container {
  readonly id: string;
  readonly userId: string;
  readonly mediaType: "IMAGE" | "VIDEO" | "REELS" | "STORIES" | "CAROUSEL";
  readonly isCarouselItem: boolean;
  readonly caption: string | null;
  readonly alt: string | null;
  /** The caption as it was sent, where magic words are looked for: a story drops it. */
  readonly sentCaption: string;
  readonly children: readonly string[];
  readonly file: StoredFile | null;
  /** Cover of a reel; absent in what was kept before it was. */
  readonly cover?: StoredFile | null;
  /** What else a reader sees of the options. */
  readonly remarks?: readonly string[];
  readonly createdAt: number;
  /** Looks until it is done. */
  pollsLeft: number;
  /** Why it will end in ERROR, once it is done. */
  readonly errorSubcode: number | null;
  mediaId: string | null;
}

export interface Media {
  readonly id: string;
  readonly userId: string;
  readonly containerId: string;
  readonly shortcode: string;
  readonly publishedAt: number;
}

export interface InstagramState extends FollowUps {
  lastId: string;
  accounts: Account[];
  /** App id → secret. */
  apps: Map<string, string>;
  codes: Map<string, Code>;
  tokens: Map<string, Token>;
  containers: Map<string, Container>;
  /** By media id, oldest first. */
  media: Map<string, Media>;
  tokenShape: "data" | "flat";
  quotaTotal: number;
  /** Posts that count as published besides the real ones, by account. */
  quotaUsed: Map<string, { readonly count: number; readonly setAt: number }>;
}

/** What the network's routes share. `state` is replaced by a reset, so it is always read through here. */
export interface InstagramShared extends Surroundings {
  state: InstagramState;
}

function newAccount(
  userId: string,
  username: string,
  name: string,
  type: Account["type"],
): Account {
  const scopedId = String(BigInt(userId) + 9_000_000_000_000_000n);
  return { userId, scopedId, username, name, type, restricted: false };
}

export function freshState(): InstagramState {
  return {
    lastId: "18000000000000000",
    accounts: [
      newAccount(DEMO_ACCOUNT, "demo.bakery", "Demo Bakery", "BUSINESS"),
      newAccount(CREATOR_ACCOUNT, "demo.creator", "Demo Creator", "MEDIA_CREATOR"),
      newAccount(PERSONAL_ACCOUNT, "demo.private", "Dana in private", "PERSONAL"),
    ],
    apps: new Map([[DEMO_INSTAGRAM_APP.id, DEMO_INSTAGRAM_APP.secret]]),
    codes: new Map(),
    tokens: new Map(),
    containers: new Map(),
    media: new Map(),
    ...noFollowUps(),
    tokenShape: "data",
    quotaTotal: 50,
    quotaUsed: new Map(),
  };
}

export function findAccount(state: InstagramState, userId: string): Account | undefined {
  return state.accounts.find((account) => account.userId === userId);
}

export function nextId(state: InstagramState): string {
  state.lastId = String(BigInt(state.lastId) + 1n);
  return state.lastId;
}

export function newTokenText(): string {
  return `IGAA${randomBytes(130).toString("base64").replace(/[+/=]/g, "Z")}`;
}
