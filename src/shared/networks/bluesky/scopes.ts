const POSTS = "app.bsky.feed.post";
const POST_ACTIONS = ["create", "update"] as const;

/** What may be written to a collection of the account (https://atproto.com/specs/permission#repo). */
interface Right {
  readonly collection: string;
  readonly actions: readonly string[];
}

/**
 * Asked for so that nobody has to link again for deleting posts and for saying who may answer and quote; neither
 * linking nor publishing needs them.
 */
const EXTRAS: readonly Right[] = [
  { collection: POSTS, actions: ["delete"] },
  { collection: "app.bsky.feed.threadgate", actions: ["create", "delete"] },
  { collection: "app.bsky.feed.postgate", actions: ["create", "delete"] },
];

function scopeOf({ collection, actions }: Right): string {
  return `repo:${collection}?${actions.map((action) => `action=${action}`).join("&")}`;
}

const POST_SCOPE = scopeOf({ collection: POSTS, actions: POST_ACTIONS });
const FILES_SCOPE =
  "blob:*/* rpc:com.atproto.repo.uploadBlob?aud=* rpc:app.bsky.video.getUploadLimits?aud=*";

/**
 * Writing posts, uploading their files, handing a video to the video service, and the extras. `update` is asked for
 * because the server checks it for the call that writes a record under a key of ours.
 */
export const GRANULAR_SCOPE = `atproto ${POST_SCOPE} ${EXTRAS.map(scopeOf).join(" ")} ${FILES_SCOPE}`;
/** For servers that know no finer ones. */
export const BROAD_SCOPE = "atproto transition:generic";
/** A client may ask for nothing that its document does not name. */
export const ALL_SCOPES = `${GRANULAR_SCOPE} transition:generic`;

function allows(granted: string, collection: string, action: string): boolean {
  const [name = "", query = ""] = granted.split("?", 2);
  const given = new URLSearchParams(query);
  const collections =
    name === "repo" ? given.getAll("collection") : [/^repo:(.*)$/.exec(name)?.[1]];
  const actions = given.getAll("action");
  const isThere = collections.includes("*") || collections.includes(collection);
  return isThere && (actions.length === 0 || actions.includes(action));
}

function allowAll(scopes: readonly string[], { collection, actions }: Right): boolean {
  return actions.every((action) => scopes.some((scope) => allows(scope, collection, action)));
}

/** Returns whether posts with files may be written. */
export function allowsPosting(scopes: readonly string[]): boolean {
  if (scopes.includes("transition:generic")) return true;
  const canWrite = allowAll(scopes, { collection: POSTS, actions: POST_ACTIONS });
  return canWrite && scopes.some((scope) => scope.startsWith("blob"));
}

/** Returns the extras that were not granted. An app password has no scopes, and may do all that these allow. */
export function missingScopes(scopes: readonly string[]): readonly string[] {
  if (scopes.length === 0 || scopes.includes("transition:generic")) return [];
  return EXTRAS.filter((right) => !allowAll(scopes, right)).map(scopeOf);
}
