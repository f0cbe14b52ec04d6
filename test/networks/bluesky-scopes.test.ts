import { describe, expect, test } from "vitest";
import {
  allowsPosting,
  GRANULAR_SCOPE,
  missingScopes,
} from "../../src/shared/networks/bluesky/client-documents.ts";

/** Enough to publish, and nothing else. */
const FEWEST =
  "atproto repo:app.bsky.feed.post?action=create&action=update blob:*/* rpc:com.atproto.repo.uploadBlob?aud=* rpc:app.bsky.video.getUploadLimits?aud=*";
const EXTRAS = [
  "repo:app.bsky.feed.post?action=delete",
  "repo:app.bsky.feed.threadgate?action=create&action=delete",
  "repo:app.bsky.feed.postgate?action=create&action=delete",
];

describe("Bluesky's scopes", () => {
  test.each<[string, string, readonly string[]]>([
    ["all that is asked for", GRANULAR_SCOPE, []],
    ["the fewest that publish", FEWEST, EXTRAS],
    ["the broad one", "atproto transition:generic", []],
    ["every collection", "atproto repo:* blob:*/*", []],
    ["a collection with every action", "repo:app.bsky.feed.post blob:*/*", EXTRAS.slice(1)],
    [
      "collections in one scope",
      "repo?collection=app.bsky.feed.post&collection=app.bsky.feed.threadgate blob:*/*",
      EXTRAS.slice(2),
    ],
    [
      "a gate that can't be taken away again",
      `${FEWEST} repo:app.bsky.feed.post?action=delete repo:app.bsky.feed.postgate repo:app.bsky.feed.threadgate?action=create`,
      EXTRAS.slice(1, 2),
    ],
  ])("%s posts, and lacks what it lacks", (_what, scope, missing) => {
    expect(allowsPosting(scope.split(" "))).toBe(true);
    expect(missingScopes(scope.split(" "))).toEqual(missing);
  });

  test.each([
    ["nothing", "atproto"],
    ["gates alone", "atproto repo:app.bsky.feed.threadgate blob:*/*"],
    ["no files", "atproto repo:app.bsky.feed.post"],
    ["no update", "atproto repo:app.bsky.feed.post?action=create blob:*/*"],
    ["another collection of a like name", "repo:app.bsky.feed.posts blob:*/*"],
  ])("%s do not post", (_what, scope) => {
    expect(allowsPosting(scope.split(" "))).toBe(false);
  });
});
