import { lookAtFiles } from "../graph/look-at-files.ts";
import { rejectedBy } from "../contract/media-failed.ts";
import type {
  LegToPublish,
  NetworkTools,
  PrepareOutcome,
  Rejected,
  TryLater,
} from "../contract/network.ts";
import { formOf, isForm, type Form } from "./forms.ts";
import { ownOptionsOf } from "./options.ts";
import { preparePhotos } from "./photos.ts";
import { rules } from "./rule-table.ts";
import { remoteOf } from "./state.ts";
import { media } from "./targets.ts";
import { prepareVideo } from "./upload.ts";

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
  const kinds = await lookAtFiles("facebook", { draft, targets: media() }, tools);
  if ("kind" in kinds) return kinds;
  const form = formOf(ownOptionsOf(draft.options).kind, kinds);
  return isForm(form) ? form : rejectedBy(rules, form, kinds.join(", "));
}
