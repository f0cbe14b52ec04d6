import type { Classified } from "../contract/classified.ts";
import { exchange, failureOf, unanswered, unpublished } from "../contract/classified.ts";
import { unknown } from "../contract/doubt.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type {
  LegFailure,
  LegToPublish,
  NetworkTools,
  Published,
  PublishOutcome,
} from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { duplicateUrn } from "./errors.ts";
import { wantedFiles } from "./files.ts";
import { littleText } from "./little-text.ts";
import { ownOptionsOf } from "./options.ts";
import { publishedAs } from "./posts.ts";
import { withoutAssets } from "./prepare.ts";
import { restPost } from "./request.ts";
import { judge } from "./session.ts";
import type { Asset, Remote } from "./state.ts";
import { credentialsOf, remoteOf } from "./state.ts";

const NOT_READY_SECONDS = 10;

export async function publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const credentials = credentialsOf(leg.credentials);
  const remote = remoteOf(leg.remote);
  const answer = await exchange(tools, restPost("posts", postBody(leg), credentials, tools));
  if (answer instanceof HttpFailure) {
    return answer.delivery === "not_sent"
      ? unanswered(answer)
      : inDoubt(unknown(answer.message), remote);
  }
  const published = readPublished(answer, remote);
  if (published !== undefined) return published;
  return readRefusal(await judge(answer, credentials, tools), remote, tools.now());
}

function postBody(leg: LegToPublish) {
  const { visibility = "PUBLIC" } = ownOptionsOf(leg.draft.options);
  return {
    author: credentialsOf(leg.credentials).author,
    commentary: littleText(leg.draft.text),
    visibility,
    distribution: {
      feedDistribution: "MAIN_FEED",
      targetEntities: [],
      thirdPartyDistributionChannels: [],
    },
    lifecycleState: "PUBLISHED",
    isReshareDisabledByAuthor: false,
    content: contentOf(leg),
  };
}

function contentOf({ draft, remote }: LegToPublish): Record<string, unknown> | undefined {
  const { assets } = remoteOf(remote);
  if (assets.length < wantedFiles(draft).length) throw new Error("the files were not prepared");
  const { link } = ownOptionsOf(draft.options);
  const [first] = assets;
  if (draft.media.length > 1) {
    const images = assets.map(({ urn }, index) => withAltText(urn, draft.media[index]?.altText));
    return { multiImage: { images } };
  }
  if (draft.media.length === 1 && first !== undefined) {
    return { media: singleMedia(first, draft) };
  }
  if (link === undefined) return undefined;
  const { url, title, description } = link;
  return { article: { source: url, title, description, thumbnail: first?.urn } };
}

function singleMedia({ urn, kind }: Asset, draft: LegToPublish["draft"]) {
  switch (kind) {
    case "image":
      return withAltText(urn, draft.media[0]?.altText);
    case "document":
      return { id: urn, title: ownOptionsOf(draft.options).documentTitle };
    case "video":
      return { id: urn };
  }
}

function withAltText(id: string, altText: string | null | undefined) {
  return { id, ...(altText ? { altText } : {}) };
}

function readPublished(answer: HttpResponse, { isRepeat }: Remote): Published | undefined {
  const urn =
    answer.status === 201
      ? answer.headers["x-restli-id"]
      : // Only a call of ours whose answer was lost can be meant; on the first one it is somebody else's post.
        isRepeat
        ? duplicateUrn(answer)
        : undefined;
  return urn === undefined ? undefined : publishedAs(urn.replaceAll("%3A", ":"));
}

function readRefusal(classified: Classified, remote: Remote, now: Date): PublishOutcome {
  const failure = failureOf(classified);
  switch (classified.effect) {
    case "doubt":
      return inDoubt({ ...failure, code: "outcome_unknown" }, remote);
    case "prepare_again":
      return prepareAgain(failure, remote, now);
    default:
      return unpublished(classified);
  }
}

function inDoubt(failure: LegFailure, remote: Remote): PublishOutcome {
  const { doubts } = remote;
  return { kind: "in_doubt", failure, remote: { ...remote, isRepeat: true, doubts: doubts + 1 } };
}

function prepareAgain(failure: LegFailure, remote: Remote, now: Date): PublishOutcome {
  if (failure.code === "media_not_ready") {
    const assets = remote.assets.map((asset) => ({ ...asset, isReady: false }));
    const waiting = { ...remote, assets };
    return { kind: "prepare_again", remote: waiting, failure, pollAfterSeconds: NOT_READY_SECONDS };
  }
  const again = withoutAssets(remote, 0, now);
  return again === undefined
    ? { kind: "rejected", failure }
    : { kind: "prepare_again", remote: again, failure, pollAfterSeconds: 0 };
}
