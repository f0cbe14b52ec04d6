import { encodedAddress } from "../contract/web-address.ts";
import { lookAtFiles, repairedImage, withProbe } from "../graph/probe.ts";
import { ask, withFile } from "../contract/ask.ts";
import { rejectedBy } from "../contract/media-check.ts";
import type { PrepareOutcome, Rejection, TryLater } from "../contract/outcome.ts";
import { makeFiles, type Making } from "../contract/uploads.ts";
import { isForm } from "../graph/post-form.ts";
import { formOf, isUnfitForReel, media, rules, type Form } from "./rules.ts";
import { ownOptionsOf } from "./options.ts";
import { type Leg, pageOf, type Remote } from "./state.ts";
import { prepareVideo, readyVideo } from "./upload.ts";
import { readMade } from "../contract/answers.ts";
import { graphPostFile, graphPostJson } from "../graph/request.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";

/** Makes the photos or uploads the video, which are not visible yet. A text alone needs nothing. */
export async function prepare(leg: Leg): Promise<PrepareOutcome> {
  const form = leg.remote.form ?? (await chooseForm(leg));
  if (typeof form !== "string") return form;
  const chosen = { ...leg, remote: { ...leg.remote, form } };
  switch (form) {
    case "text":
      return { kind: "ready", remote: chosen.remote };
    case "video":
      return readyVideo(chosen);
    case "photos":
    case "photo_story":
      const now = chosen.tools.now();
      const remote = photosHaveExpired(chosen.remote, now)
        ? { ...chosen.remote, photos: [], photosSince: undefined }
        : chosen.remote;
      const begun: Remote = { ...remote, photosSince: remote.photosSince ?? now.toISOString() };
      const made = await makeFiles(photos, { ...chosen, remote: begun });
      return "kind" in made ? made : { kind: "ready", remote: photos.withFiles(begun, made.files) };
    case "reel":
    case "video_story":
      return prepareVideo(chosen);
  }
}

async function chooseForm(leg: Leg): Promise<Form | Rejection | TryLater> {
  const looked = await lookAtFiles("facebook", leg, media());
  if ("failure" in looked) return looked;
  const kinds = looked.map((one) => one.kind);
  const { kind } = ownOptionsOf(leg.draft);
  const form = formOf(leg.draft, kinds);
  if (!isForm(form)) return rejectedBy(rules, form, kinds.join(", "));
  const isNoReel = form === "reel" && kind === undefined && isUnfitForReel(looked[0]?.file ?? null);
  return isNoReel ? "video" : form;
}

/** Facebook fetches a photo before it answers, so a leg with many photos continues in its next run. */
const RUN_MS = 25_000;
/** Unpublished photos live for about a day. */
const PHOTOS_LIFE_MS = 20 * 3_600_000;

/** Returns whether the photos are too old to be published. */
export function photosHaveExpired({ photosSince }: Remote, now: Date): boolean {
  return photosSince !== undefined && now.getTime() - Date.parse(photosSince) > PHOTOS_LIFE_MS;
}

const photos = {
  filesOf: (remote: Remote) => remote.photos,
  withFiles: (remote: Remote, made: readonly string[]) => ({ ...remote, photos: [...made] }),
  count: ({ draft }: Leg) => draft.media.length,
  make: makePhoto,
  runMs: RUN_MS,
  restart: () => undefined,
};

async function makePhoto(
  leg: Leg,
  { mediaIndex }: Making<string>,
): Promise<string | TryLater | Rejection> {
  const { tools } = leg;
  const { url = "", altText } = leg.draft.media[mediaIndex] ?? {};
  const source = await repairedImage("facebook", { url, mediaIndex }, media().image, tools);
  if (source !== undefined && "failure" in source) return source;
  const path = `${leg.credentials.pageId}/photos`;
  const alt_text_custom = altText ?? undefined;
  const request = await withFile("facebook", mediaIndex, async () =>
    source === undefined
      ? graphPostJson(pageOf(leg), path, {
          url: encodedAddress(await tools.addressOf(url)),
          published: false,
          alt_text_custom,
        })
      : graphPostFile(pageOf(leg), path, { published: "false", alt_text_custom }, source),
  );
  if ("failure" in request) return request;
  const why = (answer: HttpResponse, now: Date) => withProbe(classify(answer, now), url, tools);
  return ask(request, { read: readMade, classify: why, mediaIndex }, tools);
}
