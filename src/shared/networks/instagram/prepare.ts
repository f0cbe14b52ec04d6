import type { Classified } from "../contract/answers.ts";
import { rejectedBy } from "../contract/media-check.ts";
import type { LegToPublish } from "../contract/network.ts";
import { legFailure } from "../contract/outcome.ts";
import type { PrepareOutcome, Rejected, TryLater } from "../contract/outcome.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { makeFiles, pollFiles, polling, processing, startAgain } from "../contract/uploads.ts";
import type { Broken, FileState, Making } from "../contract/uploads.ts";
import { fetchableUrl, lookAtFiles } from "../graph/probe.ts";
import { createContainer, type Fields, fileFields, lookAtContainer } from "./container.ts";
import { withoutStories } from "./container.ts";
import { ownOptionsOf } from "./options.ts";
import { formOf, isForm, media, rules } from "./rules.ts";
import { type Container, type Remote, remoteOf } from "./state.ts";

/** Instagram fetches an image before it answers: a leg with many continues in its next run. */
const RUN_MS = 25_000;
const CARRY_ON_SECONDS = 1;
const RESTART_SECONDS = 5;
/** Containers that fail more often than this within this time are given up; a later retry by hand begins again. */
const RESTARTS = { max: 2, withinMs: 15 * 60_000 };
/** Looked at soon at first, then ever less often. */
const POLLS = [
  { untilMs: 15_000, seconds: 3 },
  { untilMs: 60_000, seconds: 10 },
  { untilMs: 300_000, seconds: 30 },
] as const;
const POLL_SECONDS_MAX = 60;

/**
 * Creates containers, which nobody sees before they are published. A carousel's items have to be finished before the
 * carousel is created.
 */
export async function prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome> {
  const found = await chosen(leg, remoteOf(leg.remote), tools);
  if ("failure" in found) return found;
  if (found.form === "carousel" && found.container === undefined)
    return prepareItems(leg, found, tools);
  return found.container === undefined
    ? makeContainer(leg, found, tools)
    : look(leg, found, found.container, tools);
}

async function chosen(
  { draft }: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<Remote | Rejected | TryLater> {
  if (remote.form !== undefined) return remote;
  const looked = await lookAtFiles("instagram", { draft, targets: media(draft) }, tools);
  if ("failure" in looked) return looked;
  const { kinds } = looked;
  const form = formOf(ownOptionsOf(draft).kind, kinds);
  if (!isForm(form)) return rejectedBy(rules, form, kinds.join(", "));
  const plain = kinds.map((kind) => (kind === "video" ? kind : "image"));
  return { ...remote, form, kinds: plain };
}

async function makeContainer(
  leg: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const mediaIndex = remote.form === "carousel" ? undefined : 0;
  const file =
    remote.form === "carousel" ? { fields: {} } : await fileFields(leg, remote, 0, tools);
  if ("failure" in file) return file;
  const fields = containerFields(leg, remote, file.fields);
  const made = await createContainer(leg, fields, mediaIndex, tools);
  if ("failure" in made) return withoutStories(made, remote);
  const kept = { ...remote, container: made };
  // Images are usually finished immediately.
  return isVideo(remote, 0) ? workingOn(kept, made, tools) : look(leg, kept, made, tools);
}

const uploads = {
  filesOf: ({ children }: Remote) => children,
  withFiles: (remote: Remote, children: readonly Container[]) => ({
    ...remote,
    children: [...children],
  }),
  count: ({ draft }: LegToPublish) => draft.media.length,
  make: makeItem,
  runMs: RUN_MS,
  restart: ({ container: _given, ...remote }: Remote, children: readonly Container[], now: Date) =>
    restarted({ ...remote, children: [...children] }, now),
  restartSeconds: RESTART_SECONDS,
};

async function prepareItems(
  leg: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  if (remote.children.length < leg.draft.media.length) {
    const made = await makeFiles(uploads, { leg, remote }, tools);
    return "kind" in made
      ? made
      : processing(uploads.withFiles(remote, made.files), CARRY_ON_SECONDS);
  }
  const look = (child: Container, index: number) => askForItem(leg, { child, index }, tools);
  const polled = await pollFiles(uploads, { remote, look }, tools);
  if ("kind" in polled) return polled;
  const looked = uploads.withFiles(remote, polled.files);
  const waiting = looked.children.find(({ isReady }) => !isReady);
  return waiting === undefined
    ? makeContainer(leg, looked, tools)
    : workingOn(looked, waiting, tools);
}

async function askForItem(
  leg: LegToPublish,
  { child, index }: { readonly child: Container; readonly index: number },
  tools: NetworkTools,
): Promise<FileState | TryLater | Rejected> {
  const state = await lookAtContainer(leg, child, tools);
  if (state.kind === "unknown") return state.outcome;
  if (state.kind === "failed" || state.kind === "gone") return broken(state.classified, index);
  return state.kind === "working" ? "working" : "ready";
}

async function makeItem(
  { leg, mediaIndex }: Making<Container>,
  remote: Remote,
  tools: NetworkTools,
): Promise<Container | TryLater | Rejected> {
  const file = await fileFields(leg, remote, mediaIndex, tools);
  if ("failure" in file) return file;
  return createContainer(leg, itemFields(remote, mediaIndex, file.fields), mediaIndex, tools);
}

async function look(
  leg: LegToPublish,
  remote: Remote,
  container: Container,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const state = await lookAtContainer(leg, container, tools);
  switch (state.kind) {
    case "finished":
      return { kind: "ready", remote };
    case "published":
      return {
        kind: "ready",
        remote: { ...remote, container: { ...container, isPublished: true } },
      };
    case "working":
      return workingOn(remote, container, tools);
    case "failed":
      return startOver(remote, state.classified, tools);
    case "gone":
      return leg.sentAt === null
        ? startOver(remote, state.classified, tools)
        : inDoubt(state.classified);
    case "unknown":
      return keepContainer(remote, state.outcome);
  }
}

/** Returns the outcome for a container that may have been published: a new one could make a second post. */
function inDoubt({ networkCode, note }: Classified): TryLater {
  return { kind: "try_later", failure: { code: "network_unavailable", networkCode, note } };
}

/** Keeps a container that was just created when its status could not be read. */
function keepContainer(remote: Remote, outcome: TryLater | Rejected): PrepareOutcome {
  return outcome.kind === "rejected" ? outcome : { ...outcome, remote };
}

export function withoutContainers({ container: _given, ...remote }: Remote): Remote {
  return { ...remote, children: [] };
}

/** Returns the state with one more restart counted; undefined if there were too many. */
export function restarted(remote: Remote, now: Date): Remote | undefined {
  const lastMs = remote.restartedAt === undefined ? 0 : Date.parse(remote.restartedAt);
  const isRecent = now.getTime() - lastMs < RESTARTS.withinMs;
  const restarts = isRecent ? remote.restarts : 0;
  return restarts >= RESTARTS.max
    ? undefined
    : { ...remote, restarts: restarts + 1, restartedAt: now.toISOString() };
}

function startOver(remote: Remote, classified: Classified, tools: NetworkTools): PrepareOutcome {
  const mediaIndex = remote.form === "carousel" ? undefined : 0;
  const lost = broken(classified, mediaIndex);
  return startAgain(uploads, { remote, files: [], mediaIndex: 0, broken: lost }, tools);
}

function broken(classified: Classified, mediaIndex: number | undefined): Broken {
  // That it could not be reached is no excuse for what became of the file there.
  const isOutage = classified.code === "network_unavailable";
  const reported = isOutage
    ? ({ ...classified, code: "media_processing_failed" } as const)
    : classified;
  const failure = legFailure(reported, mediaIndex);
  return { kind: "broken", failure, isFinal: classified.effect === "refuse" };
}

function workingOn(remote: Remote, { createdAt }: Container, tools: NetworkTools): PrepareOutcome {
  const ageMs = tools.now().getTime() - Date.parse(createdAt);
  const step = POLLS.find(({ untilMs }) => ageMs < untilMs);
  return polling(remote, step?.seconds ?? POLL_SECONDS_MAX);
}

function isVideo({ kinds }: Remote, mediaIndex: number): boolean {
  return kinds[mediaIndex] === "video";
}

/** Returns the fields of a carousel's item. Outside a carousel a single video is a reel. */
function itemFields(remote: Remote, mediaIndex: number, file: Fields): Fields {
  const media_type = isVideo(remote, mediaIndex) ? "VIDEO" : undefined;
  return { ...file, is_carousel_item: "true", media_type };
}

function containerFields(leg: LegToPublish, remote: Remote, file: Fields): Fields {
  const { collaborators, shareToFeed, coverUrl, thumbOffsetMs } = ownOptionsOf(leg.draft);
  const names = collaborators?.map((name) => name.replace(/^@/, ""));
  const shared = {
    caption: leg.draft.text === "" ? undefined : leg.draft.text,
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
        cover_url: coverUrl === undefined ? undefined : fetchableUrl(coverUrl),
        thumb_offset: thumbOffsetMs?.toString(),
      };
    case "image_story":
    case "video_story":
      return { media_type: "STORIES", ...file };
    default:
      return { ...file, ...shared };
  }
}
