import { randomBytes } from "node:crypto";
import { type FollowUps, noFollowUps } from "../follow-ups.ts";
import type { Surroundings } from "../network.ts";
import type { Code } from "../oauth-provider.ts";

/** "Share on LinkedIn" and "Sign In with LinkedIn": posts as a member. */
export const DEMO_LINKEDIN_APP = {
  id: "86demo0member0",
  secret: "WPL_AP1.demo0member0secret.c2FuZGJveA==",
} as const;
/** The reviewed Community Management product, which wants an app of its own: posts as an organization. */
export const DEMO_LINKEDIN_ORG_APP = {
  id: "86demo0orgapp0",
  secret: "WPL_AP1.demo0orgapp0secret.c2FuZGJveA==",
} as const;

export const DEMO_MEMBER = "aB3dE5fG7h";
/** Administers nothing. */
export const FRIEND_MEMBER = "zY8xW6vU4t";
export const DEMO_ORGANIZATION = "90210001";

interface App {
  readonly secret: string;
  readonly scopes: readonly string[];
  /** Refresh tokens are for approved partners only. */
  readonly hasRefreshTokens: boolean;
}

export interface Member {
  readonly id: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly email: string;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly vanityName: string;
  /** By member id. */
  roles: Record<string, string>;
}

export interface Grant {
  readonly appId: string;
  readonly memberId: string;
  scopes: string[];
}

export interface Token extends Grant {
  expiresAt: number;
  isRevoked: boolean;
}

interface StoredFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly mimeType: string;
}

export interface UploadPart {
  readonly firstByte: number;
  readonly lastByte: number;
  sha256: string | null;
  etag: string | null;
}

export interface Asset {
  /** `urn:li:image:…`, `urn:li:video:…` or `urn:li:document:…` */
  readonly urn: string;
  readonly kind: "image" | "video" | "document";
  readonly owner: string;
  readonly memberId: string;
  /** Part of the upload address that can't be guessed. */
  readonly uploadKey: string;
  readonly uploadUntil: number;
  readonly parts: UploadPart[];
  readonly uploadToken: string;
  file: StoredFile | null;
  seconds: number | null;
  /** Looks, or attempts to post it, until it is available. */
  pollsLeft: number;
  delayed: boolean;
  problem: string | null;
}

export interface Article {
  readonly source: string;
  readonly title: string;
  readonly description: string;
  readonly thumbnail: string | null;
}

export interface PostMedia {
  readonly urn: string;
  readonly alt: string | null;
  readonly title: string | null;
}

export interface Post {
  readonly urn: string;
  readonly author: string;
  /** Little text as far as it was understood. */
  readonly commentary: string;
  readonly isTruncated: boolean;
  /** What was sent, for telling a duplicate. */
  readonly fingerprint: string;
  readonly visibility: string;
  readonly content: unknown;
  readonly media: readonly PostMedia[];
  readonly article: Article | null;
  readonly createdAt: number;
}

export interface LinkedInState extends FollowUps {
  lastNumber: string;
  members: Member[];
  organizations: Organization[];
  apps: Map<string, App>;
  codes: Map<string, Code>;
  tokens: Map<string, Token>;
  refreshTokens: Map<string, Token>;
  assets: Map<string, Asset>;
  /** By URN, oldest first. */
  posts: Map<string, Post>;
}

/** What the network's routes share. `state` is replaced by a reset, so it is always read through here. */
export interface LinkedInShared extends Surroundings {
  state: LinkedInState;
}

export function freshState(): LinkedInState {
  return {
    lastNumber: "7395000000000000000",
    members: [
      { id: DEMO_MEMBER, givenName: "Dana", familyName: "Demo", email: "dana@sandbox.test" },
      { id: FRIEND_MEMBER, givenName: "Alex", familyName: "Single", email: "alex@sandbox.test" },
    ],
    organizations: [
      {
        id: DEMO_ORGANIZATION,
        name: "Demo Bakery Ltd",
        vanityName: "demo-bakery",
        roles: { [DEMO_MEMBER]: "ADMINISTRATOR" },
      },
    ],
    apps: new Map([
      [
        DEMO_LINKEDIN_APP.id,
        {
          secret: DEMO_LINKEDIN_APP.secret,
          scopes: ["openid", "profile", "email", "w_member_social", "w_member_social_feed"],
          hasRefreshTokens: false,
        },
      ],
      [
        DEMO_LINKEDIN_ORG_APP.id,
        {
          secret: DEMO_LINKEDIN_ORG_APP.secret,
          scopes: [
            "r_basicprofile",
            "w_member_social",
            "w_organization_social",
            "r_organization_social",
            "rw_organization_admin",
            "w_organization_social_feed",
            "r_organization_social_feed",
          ],
          hasRefreshTokens: true,
        },
      ],
    ]),
    codes: new Map(),
    tokens: new Map(),
    refreshTokens: new Map(),
    assets: new Map(),
    posts: new Map(),
    ...noFollowUps(),
  };
}

export function nextNumber(state: LinkedInState): string {
  state.lastNumber = String(BigInt(state.lastNumber) + 1n);
  return state.lastNumber;
}

export const personUrn = (memberId: string): string => `urn:li:person:${memberId}`;
export const organizationUrn = (id: string): string => `urn:li:organization:${id}`;

export function findOrganization(state: LinkedInState, urn: string): Organization | undefined {
  return state.organizations.find(({ id }) => organizationUrn(id) === urn);
}

export function fullName({ givenName, familyName }: Member): string {
  return `${givenName} ${familyName}`;
}

/** Longer than a thousand characters, as real ones may be. */
export function newTokenText(): string {
  return `AQ${randomBytes(780).toString("base64url")}`;
}
