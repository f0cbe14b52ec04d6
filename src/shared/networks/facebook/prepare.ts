import { lookAtFiles, withProbe, fetchableUrl } from "../graph/probe.ts";
import { ask, withFile } from "../contract/ask.ts";
import { rejectedBy } from "../contract/media-check.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { legFailure, unanswered, unpublished } from "../contract/outcome.ts";
import type { PrepareOutcome, Rejected, TryLater } from "../contract/outcome.ts";
import { makeFiles, type Making, processing } from "../contract/uploads.ts";
import { formOf, isForm, isUnfitForReel, media, rules, type Form } from "./rules.ts";
import { ownOptionsOf } from "./options.ts";
import { remoteOf, type Remote, credentialsOf, pageAccess } from "./state.ts";
import { prepareVideo } from "./upload.ts";
import { exchange, readId } from "../contract/answers.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphGet, graphPostFile, graphPostJson } from "../graph/request.ts";
import { type FetchedMedia, IMAGE_SOURCE_BYTES_MAX } from "../contract/media.ts";
import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";

/** Makes the photos, or uploads the video, of which nobody sees anything yet. What is text alone needs nothing. */
export async function prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome> {
  const remote = remoteOf(leg.remote);
  const form = remote.form ?? (await chooseForm(leg, tools));
  if (typeof form !== "string") return form;
  const chosen = { ...remote, form };
  switch (form) {
    case "text":
    case "video":
      return { kind: "ready", remote: chosen };
    case "photos":
    case "photo_story":
      return preparePhotos(leg, chosen, tools);
    case "reel":
    case "video_story":
      return prepareVideo(leg, chosen, tools);
  }
}

async function chooseForm(
  { draft }: LegToPublish,
  tools: NetworkTools,
): Promise<Form | Rejected | TryLater> {
  const looked = await lookAtFiles("facebook", { draft, targets: media() }, tools);
  if ("failure" in looked) return looked;
  const { kinds, files } = looked;
  const { kind } = ownOptionsOf(draft);
  const form = formOf(kind, kinds);
  if (!isForm(form)) return rejectedBy(rules, form, kinds.join(", "));
  const isNoReel = form === "reel" && kind === undefined && isUnfitForReel(files[0] ?? null);
  return isNoReel ? "video" : form;
}

/** Facebook fetches a photo before it answers: a leg with many continues in its next run. */
const RUN_MS = 25_000;
/** Unpublished photos live for about a day. */
const PHOTOS_LIFE_MS = 20 * 3_600_000;
const LOOK_AGAIN_SECONDS = 5;
/** A photo that is not found for longer than this will not appear. */
const MISSED_MS = 120_000;

/** Returns whether the photos are too old to be published. */
export function isOutdated({ photosSince }: Remote, now: Date): boolean {
  return photosSince !== undefined && now.getTime() - Date.parse(photosSince) > PHOTOS_LIFE_MS;
}

const photos = {
  filesOf: (remote: Remote) => remote.photos,
  withFiles: (remote: Remote, made: readonly string[]) => ({ ...remote, photos: [...made] }),
  count: ({ draft }: LegToPublish) => draft.media.length,
  make: makePhoto,
  runMs: RUN_MS,
  restart: () => undefined,
};

async function preparePhotos(
  leg: LegToPublish,
  kept: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const now = tools.now();
  const remote = isOutdated(kept, now) ? { ...kept, photos: [], photosSince: undefined } : kept;
  if (remote.photos.length === leg.draft.media.length && remote.missedAt !== undefined)
    return lookForMissed(leg, remote, tools);
  const begun = { ...remote, photosSince: remote.photosSince ?? now.toISOString() };
  const made = await makeFiles(photos, { leg, remote: begun }, tools);
  return "kind" in made ? made : { kind: "ready", remote: photos.withFiles(begun, made.files) };
}

async function makePhoto(
  { leg, mediaIndex }: Making<string>,
  _remote: Remote,
  tools: NetworkTools,
): Promise<string | TryLater | Rejected> {
  const { url = "", altText } = leg.draft.media[mediaIndex] ?? {};
  const credentials = credentialsOf(leg.credentials);
  const source = await repairedPhoto(url, mediaIndex, tools);
  if (source !== undefined && "failure" in source) return source;
  const access = pageAccess(credentials, tools);
  const path = `${credentials.pageId}/photos`;
  const alt_text_custom = altText ?? undefined;
  const plain = { url: fetchableUrl(url), published: false, alt_text_custom };
  const request =
    source === undefined
      ? graphPostJson(access, path, plain)
      : graphPostFile(access, path, { published: "false", alt_text_custom }, source);
  const read = (answer: HttpResponse) => (answer.status === 200 ? readId(answer) : undefined);
  const why = (answer: HttpResponse, now: Date) => withProbe(classify(answer, now), url, tools);
  return ask(request, { read, classify: why, mediaIndex }, tools);
}

/** Returns the photo converted for Facebook; undefined if it needs no conversion and Facebook fetches it itself. */
async function repairedPhoto(
  url: string,
  mediaIndex: number,
  tools: NetworkTools,
): Promise<FetchedMedia | TryLater | Rejected | undefined> {
  const { image } = media();
  // Also when it may be only us who can't have it: what is in the file is not known, a place perhaps.
  return withFile("facebook", mediaIndex, async () => {
    const file = await tools.openMedia(url, { bytesMax: IMAGE_SOURCE_BYTES_MAX });
    const fitted = await tools.fitImage(file, image);
    return fitted.repairs.length === 0 ? undefined : fitted;
  });
}

/** Finds out whether the photos can be published by now: one that was just made may not be found yet. */
async function lookForMissed(
  leg: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const access = pageAccess(credentialsOf(leg.credentials), tools);
  for (const photo of remote.photos) {
    const answer = await exchange(tools, graphGet(access, photo, { fields: "id" }));
    if (answer instanceof HttpFailure) return unanswered(answer);
    if (answer.status === 200) continue;
    const classified = classify(answer, tools.now());
    if (classified.networkCode !== NOT_FOUND) return unpublished(classified);
    const missedMs = tools.now().getTime() - Date.parse(remote.missedAt ?? "");
    return missedMs > MISSED_MS
      ? { kind: "rejected", failure: legFailure(classified) }
      : processing(remote, LOOK_AGAIN_SECONDS);
  }
  return { kind: "ready", remote };
}
