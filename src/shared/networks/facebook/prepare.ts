import { findMediaKind } from "../graph/probe.ts";
import type { LegToPublish, NetworkTools, PrepareOutcome } from "../network.ts";
import { formOf, isForm } from "./forms.ts";
import { ownOptionsOf } from "./options.ts";
import { preparePhotos } from "./photos.ts";
import { remoteOf } from "./state.ts";
import { prepareVideo } from "./upload.ts";

/** Makes the photos, or uploads the video, of which nobody sees anything yet. What is text alone needs nothing. */
export async function prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome> {
  const remote = remoteOf(leg.remote);
  const form = remote.form ?? (await chooseForm(leg, tools));
  if (!isForm(form)) {
    return {
      kind: "rejected",
      failure: { code: "media_rejected", networkCode: null, rule: form },
    };
  }
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

async function chooseForm({ draft }: LegToPublish, tools: NetworkTools) {
  const kinds = await Promise.all(draft.media.map((item) => findMediaKind(item.url, tools)));
  return formOf(ownOptionsOf(draft.options).kind, kinds);
}
