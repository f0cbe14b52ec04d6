import type { ClassifiedAnswer } from "../contract/answers.ts";
import { rejectedBy } from "../contract/media-check.ts";
import { legFailure, mayStartOver, outage } from "../contract/outcome.ts";
import type { PrepareOutcome, Rejection, TryLater } from "../contract/outcome.ts";
import {
  lessAndLess,
  makeFiles,
  pollFiles,
  polling,
  processing,
  startAgain,
} from "../contract/uploads.ts";
import type { Broken, FileState, Making } from "../contract/uploads.ts";
import { lookAtFiles } from "../graph/probe.ts";
import { coverField, createContainer, type Fields, fileFields, guessState } from "./container.ts";
import { lookAtContainer, withoutStories } from "./container.ts";
import { classifyStatus } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import { isForm } from "../graph/post-form.ts";
import { formOf, media, rules } from "./rules.ts";
import type { Container, Leg, Remote } from "./state.ts";

/** Instagram fetches an image before it answers, so a leg with many images continues in its next run. */
const RUN_MS = 25_000;
const CARRY_ON_SECONDS = 1;
const RESTART_SECONDS = 5;
/** Containers that fail more often than this in short time are given up; a later retry by hand begins again. */
const RESTARTS_MAX = 2;

/**
 * Creates containers, which nobody sees before they are published. A carousel's items have to be finished before the
 * carousel is created.
 */
export async function prepare(leg: Leg): Promise<PrepareOutcome> {
  const remote = await chosen(leg);
  if ("failure" in remote) return remote;
  const { form, container } = remote;
  if (container !== undefined) return look({ ...leg, remote }, container);
  return form === "carousel" ? prepareItems({ ...leg, remote }) : makeContainer({ ...leg, remote });
}

async function chosen(leg: Leg): Promise<Remote | Rejection | TryLater> {
  const { draft, remote } = leg;
  if (remote.form !== undefined) return remote;
  const looked = await lookAtFiles("instagram", leg, media(draft));
  if ("failure" in looked) return looked;
  const kinds = looked.map(({ kind }) => kind);
  const form = formOf(draft, kinds);
  if (!isForm(form)) return rejectedBy(rules, form, kinds.join(", "));
  const plain = kinds.map((kind) => (kind === "video" ? kind : "image"));
  return { ...remote, form, kinds: plain };
}

/** Returns which file has caused a failure of the leg's container. A carousel has several. */
function mediaIndexOf({ form }: Remote): number | undefined {
  return form === "carousel" ? undefined : 0;
}

async function makeContainer(leg: Leg): Promise<PrepareOutcome> {
  const { remote } = leg;
  const mediaIndex = mediaIndexOf(remote);
  const file = mediaIndex === undefined ? { fields: {} } : await fileFields(leg, mediaIndex);
  if ("failure" in file) return file;
  const cover = remote.form === "reel" ? await coverField(leg) : { fields: {} };
  if ("failure" in cover) return cover;
  const fields = containerFields(leg, { ...file.fields, ...cover.fields });
  const made = await createContainer(leg, fields, mediaIndex);
  if ("failure" in made) return withoutStories(made, remote);
  const kept = { ...leg, remote: { ...remote, container: made } };
  // Images are usually finished immediately.
  return isVideo(remote, 0) ? workingOn(kept, made) : look(kept, made);
}

const uploads = {
  filesOf: ({ children }: Remote) => children,
  withFiles: (remote: Remote, children: readonly Container[]) => ({
    ...remote,
    children: [...children],
  }),
  count: ({ draft }: Leg) => draft.media.length,
  make: makeItem,
  runMs: RUN_MS,
  restart: ({ remote, tools }: Leg, made: readonly Container[]) =>
    restarted(remote, made, tools.now()),
  restartSeconds: RESTART_SECONDS,
};

async function prepareItems(leg: Leg): Promise<PrepareOutcome> {
  const { remote } = leg;
  if (remote.children.length < leg.draft.media.length) {
    const made = await makeFiles(uploads, leg);
    return "kind" in made
      ? made
      : processing(uploads.withFiles(remote, made.files), CARRY_ON_SECONDS);
  }
  const polled = await pollFiles(uploads, leg, (child, index) => askForItem(leg, child, index));
  if ("kind" in polled) return polled;
  const looked = { ...leg, remote: uploads.withFiles(remote, polled.files) };
  const waiting = polled.files.find(({ isReady }) => !isReady);
  return waiting === undefined ? makeContainer(looked) : workingOn(looked, waiting);
}

async function askForItem(
  leg: Leg,
  child: Container,
  index: number,
): Promise<FileState | TryLater | Rejection> {
  const state = await lookAtContainer(leg, child);
  switch (state.kind) {
    case "unknown":
      return state.outcome;
    case "failed":
      return broken(state.classified, index);
    case "unreadable": {
      const kind = leg.remote.kinds[index] === "video" ? "video" : "image";
      const guess = guessState(child, kind, leg.tools.now());
      if (guess === "ended") return broken(classifyStatus(state.note), index);
      return guess === "finished" ? "ready" : "working";
    }
    case "working":
      return "working";
    case "finished":
    case "published":
      return "ready";
  }
}

async function makeItem(
  leg: Leg,
  { mediaIndex }: Making<Container>,
): Promise<Container | TryLater | Rejection> {
  const file = await fileFields(leg, mediaIndex);
  if ("failure" in file) return file;
  // The fields of a carousel's item. Outside a carousel a single video is a reel.
  const media_type = isVideo(leg.remote, mediaIndex) ? "VIDEO" : undefined;
  return createContainer(leg, { ...file.fields, is_carousel_item: "true", media_type }, mediaIndex);
}

async function look(leg: Leg, container: Container): Promise<PrepareOutcome> {
  const { remote } = leg;
  const state = await lookAtContainer(leg, container);
  switch (state.kind) {
    case "finished":
      return { kind: "ready", remote };
    case "published":
      return {
        kind: "ready",
        remote: { ...remote, container: { ...container, isPublished: true } },
      };
    case "working":
      return workingOn(leg, container);
    case "failed":
      return startOver(leg, state.classified);
    case "unreadable": {
      // With a time of sending it may have been published: a new one could make a second post.
      if (leg.sentAt !== null) return outage(state.note);
      const kind = remote.kinds.includes("video") ? "video" : "image";
      const guess = guessState(container, kind, leg.tools.now());
      if (guess === "ended") return startOver(leg, classifyStatus(state.note));
      return guess === "finished" ? { kind: "ready", remote } : workingOn(leg, container);
    }
    case "unknown":
      // A container that was just created is kept if its status could not be read.
      return state.outcome.kind === "rejected" ? state.outcome : { ...state.outcome, remote };
  }
}

/** Returns the state from which containers are made again, with one more restart counted; undefined if there were too many. */
export function restarted(
  { container: _given, ...remote }: Remote,
  children: readonly Container[],
  now: Date,
): Remote | undefined {
  const isRecent = !mayStartOver(remote.restartedAt, now);
  const restarts = isRecent ? remote.restarts : 0;
  return restarts >= RESTARTS_MAX
    ? undefined
    : {
        ...remote,
        children: [...children],
        restarts: restarts + 1,
        restartedAt: now.toISOString(),
      };
}

function startOver(leg: Leg, classified: ClassifiedAnswer): PrepareOutcome {
  return startAgain(uploads, leg, broken(classified, mediaIndexOf(leg.remote)), []);
}

function broken(classified: ClassifiedAnswer, mediaIndex: number | undefined): Broken {
  // An outage doesn't excuse a failure of the file.
  const isOutage = classified.code === "network_unavailable";
  const reported = isOutage
    ? ({ ...classified, code: "media_processing_failed" } as const)
    : classified;
  const failure = legFailure(reported, mediaIndex);
  return { kind: "broken", failure, isFinal: classified.effect === "refuse" };
}

function workingOn({ remote, tools }: Leg, { createdAt }: Container): PrepareOutcome {
  return polling(remote, lessAndLess(createdAt, tools));
}

function isVideo({ kinds }: Remote, mediaIndex: number): boolean {
  return kinds[mediaIndex] === "video";
}

function containerFields({ draft, remote }: Leg, file: Fields): Fields {
  const { collaborators, shareToFeed, thumbOffsetMs } = ownOptionsOf(draft);
  const names = collaborators?.map((name) => name.replace(/^@/, ""));
  const shared = {
    caption: draft.text === "" ? undefined : draft.text,
    collaborators: names?.length ? JSON.stringify(names) : undefined,
  };
  switch (remote.form) {
    case "carousel": {
      const children = remote.children.map(({ id }) => id).join(",");
      return { media_type: "CAROUSEL", children, ...shared };
    }
    case "reel":
      return {
        media_type: "REELS",
        ...file,
        ...shared,
        share_to_feed: String(shareToFeed ?? true),
        thumb_offset: thumbOffsetMs?.toString(),
      };
    case "image_story":
    case "video_story":
      return { media_type: "STORIES", ...file };
    default:
      return { ...file, ...shared };
  }
}
