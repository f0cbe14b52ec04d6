import { type Counts, LIMITS } from "./limits.ts";

/**
 * What a server does with the `Idempotency-Key` of a post.
 *
 * - `locked`: it answers a repeat with the first post, once the first call has ended.
 * - `kept`: the same, but a repeat that runs in parallel with the first call makes a second post.
 * - `spent`: it refuses a repeat, or repeats its first refusal, even if there is no post.
 * - `ignored`: it makes another post.
 */
export type Keys = "locked" | "kept" | "spent" | "ignored";

/** Differences between a server and Mastodon. */
export interface Traits {
  readonly keys: Keys;
  readonly mixesFiles: boolean;
  readonly needsMedia: boolean;
  readonly needsText: boolean;
  /** Whether a post may be visible only to the people whom it mentions. */
  readonly hasDirect: boolean;
  readonly gifPixelsMax: number;
  /** What it counts of a text; undefined if its description decides that. */
  readonly counts?: Counts;
  /** Whether `read` and `write` are the only scopes for accounts and posts. */
  readonly hasCoarseScopes: boolean;
}

/** Unknown server software. It is assumed to make another post for a repeat, and to accept what Mastodon does. */
const UNKNOWN: Traits = {
  keys: "ignored",
  mixesFiles: false,
  needsMedia: false,
  needsText: false,
  hasDirect: true,
  gifPixelsMax: Number.MAX_SAFE_INTEGER,
  hasCoarseScopes: false,
};

/** Keys for an hour, under a lock: `with_idempotency` in `app/services/post_status_service.rb` of mastodon/mastodon. */
const MASTODON: Traits = { ...UNKNOWN, keys: "locked", gifPixelsMax: LIMITS.gifPixelsMax };

/** Files of any types: `attachments` in `lib/pleroma/web/common_api/activity_draft.ex` of Pleroma; so do those below. */
const MIXING: Traits = { ...UNKNOWN, mixesFiles: true };

/**
 * Answers by key, refusals among them: `lib/pleroma/web/plugs/idempotency_plug.ex` of Pleroma, and Akkoma and Rebased, its
 * forks. Counts with `String.length`: `validate_character_limit` in `lib/pleroma/web/common_api/utils.ex`.
 */
const PLEROMA: Traits = { ...MIXING, keys: "spent", counts: "letters" };

/** Known behavior of servers, by the name in their nodeinfo. Each line names its source. */
export const TRAITS: Readonly<Record<string, Traits>> = {
  mastodon: MASTODON,
  // hometown-fork/hometown: like Mastodon.
  hometown: MASTODON,
  // fedibird/mastodon: no lock in the same file.
  fedibird: { ...MASTODON, keys: "kept" },
  // superseriousbusiness/gotosocial: `processMedia` in `internal/processing/status/common.go` doesn't check types, and
  // the key is only a header that `internal/middleware/cors.go` allows.
  // It states 25 for a link, but counts runes of the whole text (`validateStatusContent` in the same file).
  gotosocial: { ...MIXING, counts: "codePoints" },
  pleroma: PLEROMA,
  akkoma: PLEROMA,
  rebased: PLEROMA,
  // friendica/friendica: `post` and `storeMediaIds` in `src/Module/Api/Mastodon/Statuses.php`. Scopes are searched for
  // the words `read` and `write` (`src/Module/Api/Mastodon/Apps.php`), so fine ones are accepted.
  friendica: MIXING,
  // A fork of Misskey, which accepts any files: `postStatus` in
  // `packages/backend/src/server/api/mastodon/endpoints/status.ts` of transfem-org/Sharkey, which reads no key.
  sharkey: MIXING,
  // kaido2ki/Iceshrimp.NET: `PostNote` in `Iceshrimp.Backend/Controllers/Mastodon/StatusController.cs` answers 408 to a
  // repeat after a refusal, for a day.
  "iceshrimp.net": { ...MIXING, keys: "spent" },
  // Its first version, and Firefish of 2024, which adopted it (Ernous/iceshrimp, blueset/fireghoti): after a refusal,
  // `getFromIdempotencyCache` in `packages/backend/src/server/api/mastodon/helpers/note.ts` fails for repeats for an
  // hour. Firefish of 2023 read no key and answered 401 for every refusal, as Sharkey does (`endpoints/status.ts` in
  // jclaudan/firefish).
  iceshrimp: { ...MIXING, keys: "spent" },
  firefish: { ...MIXING, keys: "spent" },
  // akirk/enable-mastodon-apps, a plug-in of WordPress: "Validation failed: Text can't be blank" for a file alone
  // (https://github.com/akirk/enable-mastodon-apps/issues/248). Its nodeinfo is that of WordPress.
  wordpress: { ...UNKNOWN, needsText: true },
  // pixelfed/pixelfed: `statusCreate` in `app/Http/Controllers/Api/ApiV1Controller.php` (a repeat is "Duplicate idempotency
  // key.", a text alone "Empty statuses are not allowed", https://github.com/cheeaun/phanpy/issues/502, the visibilities
  // private, unlisted and public), `mimeTypeCheck` in `app/Http/Controllers/StatusController.php` (images with a video are a
  // `photo:video:album`), and `Passport::tokensCan` in `app/Providers/AuthServiceProvider.php`.
  pixelfed: {
    ...MIXING,
    keys: "spent",
    needsMedia: true,
    hasDirect: false,
    hasCoarseScopes: true,
  },
};

export function traitsOf(software: unknown): Traits {
  const isKnown = typeof software === "string" && Object.hasOwn(TRAITS, software);
  return (isKnown ? TRAITS[software] : undefined) ?? UNKNOWN;
}

/** Returns the traits by which a post is checked before it is sent. */
export function postTraits(software: unknown) {
  const { mixesFiles, needsMedia, needsText, hasDirect, gifPixelsMax, counts } = traitsOf(software);
  const own = counts === undefined ? {} : { counts };
  return { mixesFiles, needsMedia, needsText, hasDirect, gifPixelsMax, ...own };
}
