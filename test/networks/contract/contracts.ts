import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../../sandbox/bluesky/state.ts";
import { DEMO_FACEBOOK_APP } from "../../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../../sandbox/instagram/state.ts";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../../sandbox/linkedin/state.ts";
import { LENIENT_HOST, STRICT_HOST } from "../../../sandbox/mastodon/state.ts";
import type { LegErrorCode } from "../../../src/shared/networks/contract/errors.ts";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import type { Form } from "./leg-run.ts";

/** What the contract suite has to know of a network. */
export interface NetworkContract {
  readonly settings: Readonly<Record<string, string>>;
  readonly forms: Readonly<Record<string, Form>>;
  /** How long the stand-in asks to be left alone when it throttles. */
  readonly retryAfterSeconds: number;
  /** Days after which an account was linked, and how a leg ends then. */
  readonly lifetimes: Readonly<Record<string, string>>;
  /** A quota of a rolling day and real account: the setting that says how much, and a form that uses it. */
  readonly quota?: { readonly setting: string; readonly kind: string; readonly form: string };
  /** What the network may refuse of a post, beside what ends a connection or a quota. */
  readonly refusals: readonly LegErrorCode[];
  /** Steps that a leg can do without, by the refusal that does not matter there. */
  readonly dispensable?: Readonly<Record<string, readonly string[]>>;
  /** Forms that are refused for good although they are out, because their network shows nobody the posts. */
  readonly untold?: readonly string[];
  /** Forms of which nobody can tell for certain whether the lost answer of the visible call was a yes. */
  readonly unknowable?: readonly string[];
}

const at = (name: string) => `https://media.sandbox.test/${name}`;
const image = { mediaUrls: [at("portrait.jpg")], altTexts: ["A portrait"] };
const images = { mediaUrls: [at("portrait.jpg"), at("photo.jpg")] };
const video = { mediaUrls: [at("clip.mp4")] };
const document = { mediaUrls: [at("document.pdf")], options: { documentTitle: "A document" } };
const article = {
  options: {
    link: { url: "https://example.com/read", title: "To read", thumbnailUrl: at("card.jpg") },
  },
};
const atBluesky = { as: { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD } };
const byOAuth = { as: { identifier: DEMO_HANDLE } };
const VIDEO_SERVICE = ["getUploadLimits", "uploadVideo", "getJobStatus"];
const atMastodon = { as: { instance: STRICT_HOST } };
const REFUSALS = [
  "account_restricted",
  "text_invalid",
  "media_rejected",
  "invalid_request",
] as const;
const atCompatible = { as: { instance: LENIENT_HOST } };

/** One entry per registered network: one without does not compile. */
export const CONTRACTS = {
  facebook: {
    settings: {
      FACEBOOK_APP_ID: DEMO_FACEBOOK_APP.id,
      FACEBOOK_APP_SECRET: DEMO_FACEBOOK_APP.secret,
    },
    retryAfterSeconds: 60,
    lifetimes: { 100: "succeeded" },
    // The status of a video that can't be read is read again.
    dispensable: { permission_missing: ["object"], quota_exceeded: ["object"] },
    quota: { setting: "QUOTA_FACEBOOK_REELS", kind: "reels", form: "reel" },
    refusals: [...REFUSALS, "content_rejected", "duplicate_content", "link_rejected"],
    forms: {
      text: { isKnownAgain: true },
      image: { body: image, isKnownAgain: true, magic: "altTexts" },
      images: { body: images, isKnownAgain: true, magic: "altTexts" },
      reel: { body: video, sendsBy: "videoReels", looks: 4, magic: "text" },
      "video in the feed": {
        body: { ...video, options: { kind: "feed" } },
        sendsBy: "videos",
        looks: 4,
        magic: "text",
      },
      "photo story": { body: { ...image, options: { kind: "story" } }, magic: "altTexts" },
      "video story": {
        body: { ...video, options: { kind: "story" } },
        sendsBy: "videoStories",
      },
    },
    unknowable: ["text", "video in the feed"],
    untold: ["video in the feed"],
  },
  instagram: {
    settings: {
      INSTAGRAM_APP_ID: DEMO_INSTAGRAM_APP.id,
      INSTAGRAM_APP_SECRET: DEMO_INSTAGRAM_APP.secret,
    },
    retryAfterSeconds: 60,
    lifetimes: { 40: "succeeded", 100: "connection_needs_reauth" },
    // A container that can't be read is published once it had time to finish.
    dispensable: { permission_missing: ["object"], quota_exceeded: ["object"] },
    quota: { setting: "QUOTA_INSTAGRAM", kind: "posts", form: "image" },
    refusals: [...REFUSALS, "content_rejected"],
    forms: {
      image: { body: image, looks: 4, magic: "text" },
      images: { body: images, looks: 4, magic: "text" },
      reel: { body: video, looks: 4, magic: "text" },
      // Nothing of what a story says reaches Instagram: no magic word does.
      story: { body: { ...image, options: { kind: "story" } }, looks: 4 },
      "video story": { body: { ...video, options: { kind: "story" } }, looks: 4 },
    },
  },
  linkedin: {
    settings: {
      LINKEDIN_CLIENT_ID: DEMO_LINKEDIN_APP.id,
      LINKEDIN_CLIENT_SECRET: DEMO_LINKEDIN_APP.secret,
      LINKEDIN_ORG_CLIENT_ID: DEMO_LINKEDIN_ORG_APP.id,
      LINKEDIN_ORG_CLIENT_SECRET: DEMO_LINKEDIN_ORG_APP.secret,
    },
    // It does not say how long: then the relay's own schedule holds, whose first delay is 5 seconds, more or less.
    retryAfterSeconds: 4,
    lifetimes: { 100: "connection_needs_reauth" },
    quota: { setting: "QUOTA_LINKEDIN", kind: "posts", form: "text" },
    // Members may not look at their own files.
    dispensable: {
      permission_missing: ["image", "video", "document"],
      quota_exceeded: ["image", "video", "document"],
    },
    unknowable: ["image", "images", "video", "document", "article"],
    untold: ["text", "image", "images", "video", "document", "article"],
    refusals: [
      "duplicate_content",
      "text_too_long",
      "text_invalid",
      "media_rejected",
      "invalid_request",
    ],
    forms: {
      text: { as: { kind: "member" }, isKnownAgain: true },
      image: { body: image, as: { kind: "member" }, isKnownAgain: true, magic: "text" },
      images: { body: images, as: { kind: "member" }, isKnownAgain: true, magic: "text" },
      video: { body: video, as: { kind: "member" }, isKnownAgain: true, magic: "text" },
      document: { body: document, as: { kind: "member" }, isKnownAgain: true, magic: "text" },
      article: { body: article, as: { kind: "member" }, isKnownAgain: true },
      "text of an organization": {
        as: { kind: "organization" },
        isKnownAgain: true,
        isRenewable: true,
      },
    },
  },
  bluesky: {
    settings: {},
    retryAfterSeconds: 30,
    lifetimes: { 1: "succeeded", 100: "connection_needs_reauth" },
    // Without the video service a video goes the way of the images; a day of videos that is used up is no such case.
    dispensable: {
      connection_needs_reauth: VIDEO_SERVICE,
      permission_missing: ["getServiceAuth", ...VIDEO_SERVICE],
      quota_exceeded: ["getServiceAuth", "getJobStatus"],
    },
    refusals: [...REFUSALS, "text_too_long"],
    forms: {
      text: atBluesky,
      image: { ...atBluesky, body: image },
      images: { ...atBluesky, body: images },
      video: { ...atBluesky, body: video, isRemembered: true },
      "text by OAuth": byOAuth,
      "image by OAuth": { ...byOAuth, body: image },
    },
  },
  mastodon: {
    settings: {},
    retryAfterSeconds: 30,
    lifetimes: { 400: "succeeded" },
    // A list that can't be read, and one that can be read later, hold up no post.
    dispensable: {
      permission_missing: ["accountStatuses", "mediaStatus"],
      quota_exceeded: ["accountStatuses", "mediaStatus"],
    },
    refusals: [
      "account_restricted",
      "text_invalid",
      "media_rejected",
      "content_rejected",
      "text_too_long",
    ],
    forms: {
      text: atMastodon,
      image: { ...atMastodon, body: image, magic: "altTexts" },
      images: { ...atMastodon, body: images, magic: "altTexts" },
      video: { ...atMastodon, body: video, looks: 4, magic: "altTexts" },
      "text at a compatible server": atCompatible,
      "image at a compatible server": { ...atCompatible, body: image },
    },
  },
} as const satisfies Record<NetworkName, NetworkContract>;
