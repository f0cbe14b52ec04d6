import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Route } from "../network.ts";
import { SCOPE_WORDS } from "./access.ts";
import { errorAnswer, personalityOf } from "./personality.ts";
import { PLEROMA_CONFIGURATION, PLEROMA_EXTRA, PLEROMA_METADATA } from "./pleroma.ts";
import type { Personality } from "./personality.ts";
import { route } from "../network.ts";

/** Limits of `app/models/media_attachment.rb` and `app/models/concerns/attachmentable.rb` of Mastodon 4.5. */
export const IMAGE_BYTES_MAX = 16 * 1024 * 1024;
export const VIDEO_BYTES_MAX = 99 * 1024 * 1024;
/** 7680 × 4320 pixels. */
export const IMAGE_PIXELS_MAX = 33_177_600;
/** 1280 × 720 pixels; the instance does not state it. */
export const GIF_PIXELS_MAX = 921_600;
/** 3840 × 2160 pixels. */
export const VIDEO_PIXELS_MAX = 8_294_400;
export const VIDEO_FRAME_RATE_MAX = 120;
export const MIME_TYPES = [
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "video/webm",
  "video/mp4",
];

function configuration(personality: Personality): Record<string, unknown> {
  if (personality.software === "pleroma") return PLEROMA_CONFIGURATION;
  return {
    accounts: { max_featured_tags: 10, max_pinned_statuses: 5 },
    statuses: {
      max_characters: personality.charactersMax,
      max_media_attachments: personality.mediaMax,
      characters_reserved_per_url: 23,
    },
    media_attachments: {
      supported_mime_types: MIME_TYPES,
      description_limit: personality.descriptionMax,
      image_size_limit: IMAGE_BYTES_MAX,
      image_matrix_limit: IMAGE_PIXELS_MAX,
      video_size_limit: VIDEO_BYTES_MAX,
      video_frame_rate_limit: VIDEO_FRAME_RATE_MAX,
      video_matrix_limit: VIDEO_PIXELS_MAX,
    },
    polls: {
      max_options: 4,
      max_characters_per_option: 50,
      min_expiration: 300,
      max_expiration: 2_629_746,
    },
  };
}

function instanceV2({ host }: Exchange): Answer {
  const personality = personalityOf(host);
  if (personality.software === "akkoma") return errorAnswer(host, 404, "Not Found");
  return json(200, {
    domain: host,
    title: personality.title,
    version: personality.version,
    source_url: "https://github.com/mastodon/mastodon",
    description: "An instance of the sandbox.",
    usage: { users: { active_month: 2 } },
    languages: ["en"],
    configuration: {
      urls: { streaming: `wss://${host}` },
      ...configuration(personality),
      translation: { enabled: false },
    },
    registrations: { enabled: false, approval_required: false, message: null },
    ...(personality.strict ? { api_versions: { mastodon: 7 } } : {}),
    contact: { email: `admin@${host}`, account: null },
    rules: [],
    ...(personality.software === "pleroma" ? PLEROMA_METADATA : {}),
  });
}

function instanceV1({ host }: Exchange): Answer {
  const personality = personalityOf(host);
  return json(200, {
    uri: personality.software === "akkoma" ? `https://${host}` : host,
    title: personality.title,
    short_description: "An instance of the sandbox.",
    description: "",
    email: `admin@${host}`,
    version: personality.version,
    urls: { streaming_api: `wss://${host}` },
    stats: { user_count: 2, status_count: 0, domain_count: 1 },
    languages: ["en"],
    registrations: false,
    approval_required: false,
    invites_enabled: false,
    ...(personality.software === "akkoma" ? {} : { configuration: configuration(personality) }),
    ...(personality.errors === "pleroma" ? PLEROMA_EXTRA : {}),
    contact_account: null,
    rules: [],
  });
}

function authorizationServer({ host }: Exchange): Answer {
  // Servers before 4.3 and most compatible ones have no such document.
  if (!personalityOf(host).strict) return errorAnswer(host, 404, "Not Found");
  return json(200, {
    issuer: `https://${host}/`,
    service_documentation: "https://docs.joinmastodon.org/",
    authorization_endpoint: `https://${host}/oauth/authorize`,
    token_endpoint: `https://${host}/oauth/token`,
    app_registration_endpoint: `https://${host}/api/v1/apps`,
    revocation_endpoint: `https://${host}/oauth/revoke`,
    scopes_supported: Object.keys(SCOPE_WORDS),
    response_types_supported: ["code"],
    response_modes_supported: ["query", "fragment", "form_post"],
    grant_types_supported: ["authorization_code", "client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
    code_challenge_methods_supported: ["S256"],
  });
}

function nodeinfoList({ host }: Exchange): Answer {
  const rel = "http://nodeinfo.diaspora.software/ns/schema/2.0";
  return json(200, { links: [{ rel, href: `https://${host}/nodeinfo/2.0` }] });
}

function nodeinfo({ host }: Exchange): Answer {
  const { software: name, version } = personalityOf(host);
  return json(200, {
    version: "2.0",
    software: { name, version: version.split(" ")[0] },
    protocols: ["activitypub"],
    services: { inbound: [], outbound: [] },
    openRegistrations: false,
    usage: { users: { total: 2 } },
    metadata: {},
  });
}

export const instanceRoutes: readonly Route[] = [
  { method: "GET", path: "/api/v2/instance", name: "instance", run: instanceV2 },
  { method: "GET", path: "/api/v1/instance", name: "instance", run: instanceV1 },
  route("GET /.well-known/oauth-authorization-server", "authorizationServer", authorizationServer),
  { method: "GET", path: "/.well-known/nodeinfo", name: "nodeinfo", run: nodeinfoList },
  { method: "GET", path: "/nodeinfo/2.0", name: "nodeinfo", run: nodeinfo },
];
