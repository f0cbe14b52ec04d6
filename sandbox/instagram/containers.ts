import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { badParameter, graphRefusal } from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import {
  flagParameter,
  listParameter,
  readParameters,
  textParameter,
} from "../graph/parameters.ts";
import type { Parameters } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { NOT_PROFESSIONAL, PUBLISH, authorizePath } from "./access.ts";
import { checkedCaption } from "./caption.ts";
import { NOT_READY, containerState } from "./container-state.ts";
import { creationWords } from "./magic.ts";
import { checkedImage, checkedVideo } from "./media-check.ts";
import { QUOTA_REACHED } from "./publishing.ts";
import { nextId } from "./state.ts";
import type { Account, Container, InstagramShared, StoredFile } from "./state.ts";
import { route } from "../network.ts";

const VIDEO_POLLS = 2;
const ALT_MAX = 1000;
const COLLABORATORS_MAX = 3;
const CHILDREN = { min: 2, max: 10 };

const CAROUSEL_SIZE: GraphProblem = {
  message: "The carousel must have 2 to 10 items.",
  code: 100,
  subcode: 2207028,
  userTitle: "Carousel validation failed",
  userMessage:
    "Your post won't work as a carousel. Carousels need at least 2 and no more than 10 photos and videos.",
};
const UNKNOWN_TYPE: GraphProblem = {
  message: "The media type is unknown.",
  code: 100,
  subcode: 2207023,
  userTitle: "Unknown media type",
  userMessage: "The media type is not one of IMAGE, VIDEO, REELS, STORIES, CAROUSEL.",
};
const BAD_OFFSET: GraphProblem = {
  message: "The thumbnail offset must not be beyond the end of the video.",
  code: 1,
  subcode: 2207057,
  userTitle: "Invalid thumbnail offset",
  userMessage: "The thumbnail offset must be 0 or more and less than the video's duration.",
};
/** …/ig-user/media: "up to 400 containers within a rolling 24 hour period" */
const CONTAINERS_PER_DAY = 400;
const DAY_MS = 24 * 3_600_000;

function checkContainers(shared: InstagramShared, { userId }: Account): void {
  const since = shared.now() - DAY_MS;
  const own = [...shared.state.containers.values()].filter(
    (container) => container.userId === userId && container.createdAt > since,
  );
  if (own.length >= CONTAINERS_PER_DAY) throw graphRefusal(QUOTA_REACHED);
}

type Made = Pick<Container, "mediaType" | "children" | "file" | "cover" | "errorSubcode">;

function required(parameters: Parameters, name: string): string {
  const value = textParameter(parameters, name);
  if (value === undefined) throw badParameter(`The parameter ${name} is required`);
  return value;
}

async function makeImage(
  shared: InstagramShared,
  parameters: Parameters,
  mediaType: "IMAGE" | "STORIES",
): Promise<Made> {
  const url = required(parameters, "image_url");
  const file = await checkedImage(shared, url, mediaType === "STORIES" ? "story" : "feed");
  return { mediaType, children: [], file, errorSubcode: null };
}

async function makeVideo(
  shared: InstagramShared,
  parameters: Parameters,
  mediaType: "VIDEO" | "REELS" | "STORIES",
): Promise<Made> {
  const url = required(parameters, "video_url");
  const purpose = mediaType === "STORIES" ? "story" : "reel";
  const { file, seconds, errorSubcode } = await checkedVideo(shared, url, purpose);
  const offset = Number(textParameter(parameters, "thumb_offset") ?? 0);
  const isBeyond = file !== null && offset >= seconds * 1000;
  if (!Number.isInteger(offset) || offset < 0 || isBeyond) throw graphRefusal(BAD_OFFSET);
  const cover = textParameter(parameters, "cover_url");
  const picture = cover === undefined ? null : await checkedImage(shared, cover, "story");
  return { mediaType, children: [], file, cover: picture, errorSubcode };
}

function makeCarousel(shared: InstagramShared, account: Account, parameters: Parameters): Made {
  const ids = listParameter(parameters, "children").map(String);
  if (ids.length < CHILDREN.min || ids.length > CHILDREN.max) throw graphRefusal(CAROUSEL_SIZE);
  if (new Set(ids).size < ids.length) throw badParameter("The children must differ");
  for (const id of ids) {
    const child = shared.state.containers.get(id);
    if (child?.userId !== account.userId || !child.isCarouselItem)
      throw badParameter(`The child ${id} is no carousel item of this account`);
    const state = containerState(shared, child);
    if (state === "IN_PROGRESS") throw graphRefusal(NOT_READY);
    if (state !== "FINISHED") throw badParameter(`The child ${id} can't be used: ${state}`);
  }
  return { mediaType: "CAROUSEL", children: ids, file: null, errorSubcode: null };
}

function isCarouselItem(parameters: Parameters): boolean {
  return flagParameter(parameters, "is_carousel_item", false);
}

async function make(
  shared: InstagramShared,
  account: Account,
  parameters: Parameters,
): Promise<Made> {
  const mediaType = textParameter(parameters, "media_type") ?? "IMAGE";
  switch (mediaType) {
    case "IMAGE":
      return makeImage(shared, parameters, "IMAGE");
    case "VIDEO":
      if (!isCarouselItem(parameters))
        throw badParameter("media_type VIDEO is no longer supported. Use the REELS media type");
      return makeVideo(shared, parameters, "VIDEO");
    case "REELS":
      return makeVideo(shared, parameters, "REELS");
    case "STORIES":
      if (account.type !== "BUSINESS") throw graphRefusal(NOT_PROFESSIONAL);
      return textParameter(parameters, "video_url") === undefined
        ? makeImage(shared, parameters, "STORIES")
        : makeVideo(shared, parameters, "STORIES");
    case "CAROUSEL":
      return makeCarousel(shared, account, parameters);
    default:
      throw graphRefusal(UNKNOWN_TYPE);
  }
}

function checkedAlt(parameters: Parameters, file: StoredFile | null): string | null {
  const alt = textParameter(parameters, "alt_text");
  if (alt === undefined) return null;
  if (file?.kind !== "image") throw badParameter("alt_text is supported for images only");
  if (alt.length > ALT_MAX) throw badParameter(`alt_text must not exceed ${ALT_MAX} characters`);
  return alt;
}

/** Who else it is by, and where it is not to be seen. */
function remarksOf(parameters: Parameters): readonly string[] {
  const names = listParameter(parameters, "collaborators").map((name) => `with @${String(name)}`);
  const isHidden = !flagParameter(parameters, "share_to_feed", true);
  return isHidden ? [...names, "not in the feed"] : names;
}

function checkOptions(parameters: Parameters): void {
  if (listParameter(parameters, "collaborators").length > COLLABORATORS_MAX)
    throw badParameter(`There can be at most ${COLLABORATORS_MAX} collaborators`);
  const type = textParameter(parameters, "media_type") ?? "IMAGE";
  if (isCarouselItem(parameters) && !["IMAGE", "VIDEO"].includes(type))
    throw badParameter("Only images and videos can be carousel items");
}

/** What the processing will end with, on purpose or because of the file. */
function plannedError(made: Made, plan: Plan): number | null {
  return plan.failure === undefined ? made.errorSubcode : 2207053;
}

async function create(shared: InstagramShared, exchange: Exchange, plan: Plan): Promise<Answer> {
  const { account } = authorizePath(shared, exchange, PUBLISH);
  const parameters = readParameters(exchange);
  checkContainers(shared, account);
  checkOptions(parameters);
  const caption = checkedCaption(parameters);
  const made = await make(shared, account, parameters);
  const isVideo = made.file?.kind === "video" || made.errorSubcode !== null;
  const errorSubcode = plannedError(made, plan);
  const container: Container = {
    ...made,
    errorSubcode,
    id: nextId(shared.state),
    userId: account.userId,
    isCarouselItem: isCarouselItem(parameters),
    // Stories have no caption, and a carousel's items share the carousel's.
    caption: made.mediaType === "STORIES" || isCarouselItem(parameters) ? null : caption,
    sentCaption: caption ?? "",
    alt: checkedAlt(parameters, made.file),
    remarks: remarksOf(parameters),
    createdAt: shared.now(),
    pollsLeft: plan.processing ?? (isVideo ? VIDEO_POLLS : 0),
    mediaId: null,
  };
  keep(shared.state.containers, container.id, container);
  return json(200, { id: container.id });
}

export function containerRoutes(shared: InstagramShared): Route[] {
  return [
    route("POST /{id}/media", "media", (exchange, plan) => create(shared, exchange, plan), {
      playsFailures: ["media_processing_failed"],
      magic: (exchange) => {
        const parameters = readParameters(exchange);
        const texts = [textParameter(parameters, "caption"), textParameter(parameters, "alt_text")];
        const text = texts.join("\n");
        return { text: creationWords(text), key: text };
      },
      about: (exchange) => textParameter(readParameters(exchange), "caption"),
    }),
  ];
}
