import { notYetAfter, notYet, type Finding, type Done } from "../contract/outcome.ts";
import { lookAtContainer } from "./container.ts";
import { accessOf, type Leg, type Remote } from "./state.ts";
import * as z from "zod";
import { objectShape, lenient } from "../contract/fields.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import { idShape } from "../contract/answers.ts";
import { comparable } from "../contract/text.ts";
import { isEdge, readEdge } from "../graph/request.ts";
import { isStory } from "../graph/post-form.ts";

/** By then, everything that a call has caused is finished. */
const VISIBLE_MS = 60_000;

/** Reads the container's status, which shows whether it was published. */
export async function find(leg: Leg): Promise<Finding> {
  const { container } = leg.remote;
  if (leg.sentAt === null || container === undefined) return { kind: "absent" };
  const state = await lookAtContainer(leg, container);
  const ageMs = leg.tools.now().getTime() - leg.sentAt.getTime();
  switch (state.kind) {
    case "published":
      return findOwnMedia(leg);
    case "finished":
      return { kind: ageMs >= VISIBLE_MS ? "absent" : "repeatable" };
    case "failed":
      return { kind: "absent" };
    case "unreadable": {
      // The account's list may be readable all the same. Only finding the post in it proves something.
      const since = new Date(leg.sentAt.getTime() - NEAR_MS);
      const found = hasOwnText(leg) ? (await listCandidates(leg, since)).at(-1) : undefined;
      return found === undefined ? notYet(state.note) : publishedOf(found);
    }
    case "working":
      return notYet("the container is being worked on");
    case "unknown":
      return notYetAfter(state.outcome);
  }
}

const PAGE_LENGTH = 10;
/** Clocks differ, so a post may seem a little older than its call. */
const CLOCK_SKEW_MS = 120_000;
/** The same where only the list says that there is a post, so that an earlier one with the same words isn't taken for it. */
const NEAR_MS = 5_000;

const mediaShape = objectShape(() => ({
  id: idShape(),
  caption: lenient(z.string(), ""),
  timestamp: lenient(z.string(), ""),
  permalink: lenient(z.url()),
  media_type: lenient(z.string(), ""),
}));
type Media = ShapeOf<typeof mediaShape>;

/**
 * Returns the leg's post. Its container is known to be published. If the account's list doesn't show the post, the
 * container's id is used instead.
 */
export async function findOwnMedia(leg: Leg): Promise<Done> {
  const sinceMs = (leg.sentAt?.getTime() ?? Infinity) - CLOCK_SKEW_MS;
  const candidates = await listCandidates(leg, new Date(sinceMs));
  // Lists begin with the newest, so the one nearest to the call is the last. Without a text, nothing tells two apart.
  const found = hasOwnText(leg) || candidates.length === 1 ? candidates.at(-1) : undefined;
  return found === undefined
    ? { kind: "done", externalId: leg.remote.container?.id ?? "", url: null }
    : publishedOf(found);
}

function publishedOf({ id, permalink }: Media): Done {
  return { kind: "done", externalId: id, url: permalink ?? null };
}

/** Reports whether the post's words tell it from others. */
function hasOwnText({ draft, remote }: Leg): boolean {
  return !isStory(remote.form) && draft.text.trim() !== "";
}

/** Lists the account's posts since a time that may be the leg's, the newest first. */
async function listCandidates(leg: Leg, since: Date): Promise<readonly Media[]> {
  const isOfStory = isStory(leg.remote.form);
  const path = `${leg.credentials.userId}/${isOfStory ? "stories" : "media"}`;
  const fields = `id,timestamp,permalink,media_type${isOfStory ? "" : ",caption"}`;
  const lengths = { pageLength: PAGE_LENGTH, entriesMax: PAGE_LENGTH };
  const media = await readEdge(
    accessOf(leg),
    { path, query: { fields }, ...lengths },
    mediaShape(),
  );
  return isEdge(media) ? media.entries.filter((item) => isOurs(item, leg, since)) : [];
}

const TYPES: Readonly<Record<NonNullable<Remote["form"]>, string>> = {
  image: "IMAGE",
  image_story: "IMAGE",
  reel: "VIDEO",
  video_story: "VIDEO",
  carousel: "CAROUSEL_ALBUM",
};

/** Reports whether a post may be the leg's. No list says from which container a post was made. */
function isOurs(media: Media, { draft, remote: { form } }: Leg, since: Date): boolean {
  const isOfType =
    media.media_type === "" || form === undefined || media.media_type === TYPES[form];
  const isSameText = isStory(form) || comparable(media.caption) === comparable(draft.text);
  return isOfType && isSameText && Date.parse(media.timestamp) >= since.getTime();
}
