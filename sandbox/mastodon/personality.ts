import { Refusal, empty, htmlPage, json } from "../exchange.ts";
import type { Answer } from "../exchange.ts";
import { escapeHtml } from "../html.ts";
import { PLEROMA_DEFAULTS, pleromaAnswer } from "./pleroma.ts";
import { AKKOMA_HOST, FIREFISH_HOST, FRIENDICA_HOST, ICESHRIMP_HOST } from "./state.ts";
import { LENIENT_HOST, PIXELFED_HOST, PLEROMA_HOST, SHARKEY_HOST, SMALL_HOST } from "./state.ts";

/** How an instance behaves where Mastodon and the servers that are compatible with it differ. */
export interface Personality {
  /** Checks what it is sent as Mastodon does; all others accept nearly everything. */
  readonly strict: boolean;
  /**
   * What it does with an idempotency key that comes again: answers with the post, with whatever it answered first, with a
   * refusal, with the post or, where there is none, a failure, or makes another post.
   */
  readonly keys: "post" | "replay" | "refusal" | "stuck" | "none";
  /** As its nodeinfo names it. */
  readonly software: string;
  readonly title: string;
  readonly version: string;
  readonly charactersMax: number;
  readonly mediaMax: number;
  readonly descriptionMax: number;
  /** Which posts the account's own list shows besides public and unlisted ones, to a token of these scopes. */
  readonly showsOwn: (visibility: string, scopes: readonly string[]) => boolean;
  /** Whether every post has to show a file. */
  readonly needsMedia: boolean;
  readonly hasDirect: boolean;
  /**
   * How it writes errors: as Mastodon, as Pleroma, as Misskey with a 401 for all that it refuses, with the status's name
   * beside the sentence, or in one of several ways.
   */
  readonly errors: "mastodon" | "pleroma" | "misskey" | "named" | "mixed";
  /** What it counts of a text: a link as 23 letters, each letter as people see it, or each code point. */
  readonly counts: "links" | "letters" | "codePoints";
  /** The largest file, of whatever kind; absent: it accepts any. */
  readonly fileBytesMax?: number;
  /** Whether it knows no other scopes than `read` and `write`. */
  readonly hasCoarseScopes: boolean;
  /** How long a token lasts that can be renewed; absent: until it is revoked. */
  readonly tokenSeconds?: number;
  /** Whether it shows Markdown as what it stands for. */
  readonly rendersMarkdown: boolean;
  /**
   * Whether a file is known by its name alone, has another id in a post, lists come whole, whatever is asked for, and a
   * token is said to have no scopes.
   */
  readonly isSmall: boolean;
}

const canRead = (scopes: readonly string[]): boolean =>
  scopes.includes("read") || scopes.includes("read:statuses");

const MASTODON: Personality = {
  strict: true,
  keys: "post",
  software: "mastodon",
  title: "Sandbox Mastodon",
  version: "4.5.2",
  charactersMax: 500,
  mediaMax: 4,
  descriptionMax: 1500,
  showsOwn: (_, scopes) => canRead(scopes),
  needsMedia: false,
  hasDirect: true,
  errors: "mastodon",
  counts: "links",
  hasCoarseScopes: false,
  rendersMarkdown: false,
  isSmall: false,
};

/** Accepts nearly everything and keeps no idempotency keys, like several servers in the field. */
const COMPATIBLE: Personality = {
  strict: false,
  keys: "none",
  software: "gotosocial",
  title: "Sandbox GoToSocial",
  version: "0.20.1+git-0000000",
  charactersMax: 5000,
  mediaMax: 6,
  descriptionMax: 1500,
  showsOwn: (_, scopes) => canRead(scopes),
  needsMedia: false,
  hasDirect: true,
  errors: "mixed",
  counts: "codePoints",
  hasCoarseScopes: false,
  rendersMarkdown: false,
  isSmall: false,
};

/** Shows an account its own posts for followers, but no direct ones. */
const AKKOMA: Personality = {
  ...COMPATIBLE,
  keys: "replay",
  software: "akkoma",
  title: "Sandbox Akkoma",
  version: "2.7.2 (compatible; Akkoma 3.17.0)",
  charactersMax: PLEROMA_DEFAULTS.limit,
  mediaMax: PLEROMA_DEFAULTS.attachmentsMax,
  descriptionMax: PLEROMA_DEFAULTS.descriptionLimit,
  fileBytesMax: PLEROMA_DEFAULTS.uploadLimit,
  errors: "pleroma",
  counts: "letters",
  showsOwn: (visibility) => visibility === "private",
};

const PLEROMA: Personality = {
  ...AKKOMA,
  software: "pleroma",
  title: "Sandbox Pleroma",
  version: "2.7.2 (compatible; Pleroma 2.9.1)",
};

/** As snac 2.75 behaves, and 2.96 in what it says of a token: its version begins as Mastodon's does. */
const SMALL: Personality = {
  ...COMPATIBLE,
  software: "small",
  title: "Sandbox of a small server",
  version: "4.0.0 (not true; really small/2.75)",
  showsOwn: () => false,
  rendersMarkdown: true,
  isSmall: true,
};

/** Shows pictures and videos, in one post too, and accepts no post without any. */
const PIXELFED: Personality = {
  ...COMPATIBLE,
  keys: "refusal",
  software: "pixelfed",
  title: "Sandbox Pixelfed",
  version: "3.5.3 (compatible; Pixelfed 0.12.5)",
  charactersMax: 500,
  mediaMax: 4,
  descriptionMax: 1000,
  needsMedia: true,
  hasDirect: false,
  hasCoarseScopes: true,
  tokenSeconds: 15 * 24 * 3600,
  showsOwn: (visibility) => visibility === "private",
};

const FRIENDICA: Personality = {
  ...COMPATIBLE,
  software: "friendica",
  title: "Sandbox Friendica",
  version: "2.8.0 (compatible; Friendica 2024.12)",
  charactersMax: 200_000,
  mediaMax: 99,
};

/** A fork of Misskey, as all that speak Mastodon's API through a translation of their own. */
const SHARKEY: Personality = {
  ...COMPATIBLE,
  software: "sharkey",
  title: "Sandbox Sharkey",
  version: "3.0.0 (compatible; Sharkey 2024.11)",
  charactersMax: 3000,
  mediaMax: 16,
  errors: "misskey",
};

const ICESHRIMP: Personality = {
  ...COMPATIBLE,
  keys: "stuck",
  software: "Iceshrimp.NET",
  title: "Sandbox Iceshrimp.NET",
  version: "4.2.1 (compatible; Iceshrimp.NET/2025.1)",
  charactersMax: 8192,
  mediaMax: 16,
  errors: "named",
};

/** Of 2024, with the API that it took over from Iceshrimp's first form. */
const FIREFISH: Personality = {
  ...ICESHRIMP,
  software: "firefish",
  title: "Sandbox Firefish",
  version: "4.2.1 (compatible; Firefish 20240714)",
  errors: "mastodon",
};

const OTHERS: Readonly<Record<string, Personality>> = {
  [LENIENT_HOST]: COMPATIBLE,
  [AKKOMA_HOST]: AKKOMA,
  [SMALL_HOST]: SMALL,
  [PIXELFED_HOST]: PIXELFED,
  [FRIENDICA_HOST]: FRIENDICA,
  [SHARKEY_HOST]: SHARKEY,
  [PLEROMA_HOST]: PLEROMA,
  [ICESHRIMP_HOST]: ICESHRIMP,
  [FIREFISH_HOST]: FIREFISH,
};

/** Every host but those of compatible servers is an instance of Mastodon. */
export function personalityOf(host: string): Personality {
  return OTHERS[host] ?? MASTODON;
}

/** What Misskey's own API says, where Mastodon has a status. */
const MISSKEY_CODES: Readonly<Record<number, string>> = {
  401: "CREDENTIAL_REQUIRED",
  403: "PERMISSION_DENIED",
  429: "RATE_LIMIT_EXCEEDED",
};

/** An error as the host's server writes it: Mastodon a string in JSON, the compatible one an object, HTML or nothing. */
export function errorAnswer(host: string, status: number, message: string): Answer {
  const { errors } = personalityOf(host);
  if (errors === "mastodon") return json(status, { error: message });
  if (errors === "pleroma") return pleromaAnswer(status, message);
  if (errors === "named") return json(status, { statusCode: status, error: "Refused", message });
  if (errors === "misskey" && status < 500) {
    const code = MISSKEY_CODES[status] ?? "INVALID_PARAM";
    return json(401, { error: { message, code, id: "sandbox", kind: "client" } });
  }
  if (status === 422) return empty(422);
  if (status === 404 || status >= 500)
    return htmlPage(
      status,
      `<!doctype html><title>${status}</title><h1>${escapeHtml(message)}</h1>`,
    );
  return json(status, { error: { code: status, message } });
}

export function refusal(host: string, status: number, message: string): Refusal {
  return new Refusal(errorAnswer(host, status, message));
}
