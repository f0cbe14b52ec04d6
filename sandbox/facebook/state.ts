import { randomBytes } from "node:crypto";
import type { PictureFacts, VideoFacts } from "../media-facts.ts";
import { type FollowUps, noFollowUps } from "../follow-ups.ts";
import type { Surroundings } from "../network.ts";
import type { Code } from "../oauth-provider.ts";

/** The app that the sandbox knows from the start, for the relay's settings. */
export const DEMO_FACEBOOK_APP = {
  id: "120000000000001",
  secret: "5a17b0c9d2e34f6081a2b3c4d5e6f708",
} as const;

export const DEMO_USER = "10100000000000001";
/** A person without any page. */
export const FRIEND_USER = "10100000000000002";
export const DEMO_PAGE = "102000000000001";
export const SECOND_PAGE = "102000000000002";
/** Belongs to a business portfolio: listed only with `business_management`. */
const PORTFOLIO_PAGE = "102000000000003";
/** The demo user may look at its numbers and nothing more. */
const GUEST_PAGE = "102000000000004";
export const PORTFOLIO = "103000000000001";

export interface User {
  readonly id: string;
  readonly name: string;
}

export interface Page {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly portfolioId: string | null;
  /** What each person may do on it, by user id. */
  tasks: Record<string, string[]>;
  restricted: boolean;
}

/** What a person allowed an app, by app and user. Tokens hold no rights of their own. */
export interface Grant {
  granted: string[];
  declined: string[];
  pageIds: string[];
}

export interface Token {
  readonly appId: string;
  readonly userId: string;
  /** Null is the user's own token. */
  readonly pageId: string | null;
  readonly issuedAt: number;
  /** Null is a page token out of a long-lived user token: it has no end. */
  expiresAt: number | null;
  readonly isLongLived: boolean;
  /** Meta's subcode for why it was ended early. */
  endedBy: number | null;
}

export interface Photo extends PictureFacts {
  readonly id: string;
  readonly pageId: string;
  readonly alt: string | null;
  readonly caption: string | null;
  readonly sha256: string;
  readonly bytes: number;
  readonly createdAt: number;
  /** The post or story that shows it; a photo can be shown once. */
  postId: string | null;
  /** Looks until Graph finds the object. */
  pollsLeft: number;
  delayed: boolean;
}

export interface Video {
  readonly id: string;
  readonly pageId: string;
  readonly purpose: "reel" | "story" | "feed";
  readonly createdAt: number;
  title: string | null;
  description: string | null;
  /** What has arrived, as one blob. */
  received: { readonly sha256: string; readonly bytes: number } | null;
  facts: VideoFacts | null;
  /** Whether it is a film that the sandbox can't measure and Facebook accepts. */
  isOtherFilm: boolean;
  isUploaded: boolean;
  uploadPollsLeft: number;
  processingPollsLeft: number;
  /** Why it will never be shown. */
  problem: { readonly phase: "uploading" | "processing"; readonly message: string } | null;
  postId: string | null;
}

export interface Post {
  readonly id: string;
  readonly pageId: string;
  readonly form: "post" | "reel" | "story" | "video";
  readonly message: string | null;
  readonly link: string | null;
  readonly photoIds: readonly string[];
  readonly videoId: string | null;
  readonly createdAt: number;
  readonly isPublished: boolean;
}

export interface FacebookState extends FollowUps {
  lastId: string;
  users: User[];
  pages: Page[];
  /** App id → secret. */
  apps: Map<string, string>;
  grants: Map<string, Grant>;
  codes: Map<string, Code>;
  tokens: Map<string, Token>;
  photos: Map<string, Photo>;
  videos: Map<string, Video>;
  /** By post id, oldest first. */
  posts: Map<string, Post>;
  requireProof: boolean;
  refuseDuplicates: boolean;
  /** Reels that count as published besides the real ones, by page. */
  reelsUsed: Map<string, { readonly count: number; readonly setAt: number }>;
}

/** What the network's routes share. `state` is replaced by a reset, so it is always read through here. */
export interface FacebookShared extends Surroundings {
  state: FacebookState;
}

const ALL_TASKS = [
  "ADVERTISE",
  "ANALYZE",
  "CREATE_CONTENT",
  "MESSAGING",
  "MODERATE",
  "MANAGE",
] as const;

export function newPage(page: {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly portfolioId?: string;
  readonly userId?: string;
  readonly tasks?: readonly string[];
}): Page {
  const { id, name, username, portfolioId = null, userId = DEMO_USER, tasks = ALL_TASKS } = page;
  return { id, name, username, portfolioId, tasks: { [userId]: [...tasks] }, restricted: false };
}

export function freshState(): FacebookState {
  return {
    lastId: "122100000000000000",
    users: [
      { id: DEMO_USER, name: "Dana Demo" },
      { id: FRIEND_USER, name: "Alex Pageless" },
    ],
    pages: [
      newPage({ id: DEMO_PAGE, name: "Demo Bakery", username: "demobakery" }),
      newPage({
        id: SECOND_PAGE,
        name: "Demo Coffee Bar",
        username: "democoffeebar",
        // A page of the New Pages Experience.
        tasks: ["PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_ANALYZE"],
      }),
      newPage({
        id: PORTFOLIO_PAGE,
        name: "Demo Wholesale",
        username: "demowholesale",
        portfolioId: PORTFOLIO,
      }),
      newPage({
        id: GUEST_PAGE,
        name: "Bakers' Guild",
        username: "bakersguild",
        tasks: ["ANALYZE"],
      }),
    ],
    apps: new Map([[DEMO_FACEBOOK_APP.id, DEMO_FACEBOOK_APP.secret]]),
    grants: new Map(),
    codes: new Map(),
    tokens: new Map(),
    photos: new Map(),
    videos: new Map(),
    posts: new Map(),
    ...noFollowUps(),
    requireProof: false,
    refuseDuplicates: true,
    reelsUsed: new Map(),
  };
}

export function nextId(state: FacebookState): string {
  state.lastId = String(BigInt(state.lastId) + 1n);
  return state.lastId;
}

export function grantOf(
  state: FacebookState,
  { appId, userId }: Pick<Token, "appId" | "userId">,
): Grant | undefined {
  return state.grants.get(`${appId} ${userId}`);
}

export function findPage(state: FacebookState, id: string): Page | undefined {
  return state.pages.find((page) => page.id === id);
}

/** Real ones vary in length. */
export function newTokenText(): string {
  const length = 120 + ((randomBytes(1)[0] ?? 0) % 60);
  return `EAA${randomBytes(length).toString("base64").replace(/[+/=]/g, "Z")}`;
}
