import { htmlPage, json } from "../exchange.ts";
import type { Answer } from "../exchange.ts";

/*
 * What Pleroma and its fork Akkoma say in words of their own, by their source under `lib/pleroma/web`:
 *
 * - `plugs/ensure_authenticated_plug.ex`: a token that is not known leaves a request without a user
 * - `plugs/o_auth_scopes_plug.ex`, `plugs/rate_limiter.ex`
 * - `common_api/utils.ex`, `mastodon_api/controllers/status_controller.ex`: what is wrong with a post
 * - `mastodon_api/controllers/media_controller.ex` and `lib/pleroma/upload.ex`: a name alone for what is wrong with a file
 * - `mastodon_api/controllers/fallback_controller.ex`, `views/error_view.ex`, `fallback/redirect_controller.ex`
 * - `o_auth/o_auth_controller.ex`: one sentence for all that is wrong at the token endpoint
 */

/** Of `config/config.exs` of Pleroma, which few servers change. */
export const PLEROMA_DEFAULTS = {
  limit: 5_000,
  descriptionLimit: 5_000,
  uploadLimit: 16_000_000,
  attachmentsMax: 1_000,
};

/** From Mastodon's sentences to Pleroma's. */
const WORDS: readonly (readonly [status: number, said: RegExp, Answer])[] = [
  [401, /^/, json(403, { error: "Invalid credentials." })],
  [403, /scopes/, json(403, { error: "Insufficient permissions: write:statuses." })],
  [403, /disabled/, json(403, { error: "Your account is currently disabled" })],
  [404, /^Not Found$/, json(404, { error: "Not implemented" })],
  [422, /blank/, json(422, { error: "Cannot post an empty status without attachments" })],
  [422, /limit of \d+ exceeded/, json(422, { error: "The status is over the character limit" })],
  [422, /attach more/, json(422, { error: "Too many attachments" })],
  [422, /Description is too long/, json(422, { error: "description_too_long" })],
  [422, /content type|must be less/, json(422, { error: "file_too_large" })],
  [429, /^/, json(429, { error: "Throttled" })],
  [500, /^/, json(500, { errors: { detail: "Internal server error" } })],
];

export function pleromaAnswer(status: number, message: string): Answer {
  const own = WORDS.find(([known, said]) => known === status && said.test(message));
  if (own !== undefined) return own[2];
  // The server in front, while Pleroma is away.
  if (status > 500) return htmlPage(status, `<html><h1>${status}</h1><hr>nginx</html>`);
  return json(status, { error: message });
}

/** One answer for all that is wrong with a code, an app or its secret. */
export const BAD_GRANT: Answer = json(400, { error: "Invalid credentials" });

/** What `GET /api/v2/instance` of Pleroma says in a place of its own. */
export const PLEROMA_METADATA = {
  pleroma: { metadata: { description_limit: PLEROMA_DEFAULTS.descriptionLimit } },
};

/** What `GET /api/v1/instance` says in addition to the rest, and all that Akkoma says of its limits. */
export const PLEROMA_EXTRA = {
  max_toot_chars: PLEROMA_DEFAULTS.limit,
  upload_limit: PLEROMA_DEFAULTS.uploadLimit,
  description_limit: PLEROMA_DEFAULTS.descriptionLimit,
};

/** `configuration` in `mastodon_api/views/instance_view.ex` of Pleroma; Akkoma has none. */
export const PLEROMA_CONFIGURATION = {
  accounts: { max_featured_tags: 0 },
  statuses: {
    max_characters: PLEROMA_DEFAULTS.limit,
    max_media_attachments: PLEROMA_DEFAULTS.attachmentsMax,
    characters_reserved_per_url: 0,
  },
  media_attachments: {
    image_size_limit: PLEROMA_DEFAULTS.uploadLimit,
    video_size_limit: PLEROMA_DEFAULTS.uploadLimit,
    supported_mime_types: ["application/octet-stream"],
  },
};
