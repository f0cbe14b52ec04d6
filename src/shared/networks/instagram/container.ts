import * as z from "zod";
import { objectShape, lenient } from "../contract/fields.ts";
import { type ClassifiedAnswer, readMade } from "../contract/answers.ts";
import { ask, inForm, withFile, withPicture } from "../contract/ask.ts";
import { isVerdict } from "../contract/blame.ts";
import type { Rejection, TryLater } from "../contract/outcome.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { graphGet, graphPostForm } from "../graph/request.ts";
import { ACCOUNT_KIND, classify, classifyStatus } from "./errors.ts";
import { isStory } from "../graph/post-form.ts";
import type { ImageTarget } from "../contract/media.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { media, pictures } from "./rules.ts";
import { accessOf, type AsAccount, type Container, type Leg, type Remote } from "./state.ts";
import { encodedAddress } from "../contract/web-address.ts";
import { repairedImage } from "../graph/probe.ts";

/** Instagram's progress with a container. */
export type ContainerState =
  | { readonly kind: "working" | "finished" | "published" }
  | { readonly kind: "failed"; readonly classified: ClassifiedAnswer }
  /** Instagram refuses the read, or does not know the container. That says nothing about the container. */
  | { readonly kind: "unreadable"; readonly note: string }
  /** Instagram did not say. */
  | { readonly kind: "unknown"; readonly outcome: TryLater | Rejection };

/** A word that the reference does not have means work: taken for an end, it would have a second post made. */
const STATES: Readonly<Record<string, "finished" | "published">> = {
  FINISHED: "finished",
  PUBLISHED: "published",
};

const statusShape = objectShape(() => ({
  status_code: lenient(z.string()),
  status: lenient(z.string(), ""),
}));

/** The sentence begins with the same word, and sometimes comes alone: https://github.com/trypostit/trypost/pull/351. */
const FIRST_WORD = /^\s*(error|expired|finished|published|in[ _]progress)\b/i;

/** Returns what an answer says of a container: its word, if there is one in either place, and its sentence. */
function readStatus(answer: HttpResponse) {
  const said = inForm(statusShape)(answer);
  const code = said?.status_code ?? FIRST_WORD.exec(said?.status ?? "")?.[1]?.toUpperCase();
  return said === undefined || code === undefined ? undefined : { code, status: said.status };
}

/** Creates a new container. Instagram deletes a container that is not published within a day. */
export async function createContainer(
  leg: Leg,
  fields: Fields,
  mediaIndex: number | undefined,
): Promise<Container | TryLater | Rejection> {
  const { credentials, tools } = leg;
  const request = graphPostForm(accessOf(leg), `${credentials.userId}/media`, fields);
  const id = await ask(request, { read: readMade, classify, mediaIndex }, tools);
  if (typeof id !== "string") return id;
  return { id, createdAt: tools.now().toISOString(), isReady: false };
}

/** Creators can be published for, but not in stories. The connection itself stays valid. */
export function withoutStories(
  outcome: TryLater | Rejection,
  { form }: Remote,
): TryLater | Rejection {
  const { failure } = outcome;
  if (failure.rule !== ACCOUNT_KIND || !isStory(form)) return outcome;
  const clear = { ...failure, code: "invalid_request", rule: "instagram.story.account" } as const;
  return { kind: "rejected", failure: clear };
}

/** How long a container may be worked on before it is published although its status can't be read. */
const WORK_MS = { image: 15_000, video: 90_000 } as const;
/** Instagram deletes containers after a day. Until well before that, one that can't be read is still there. */
const LIFE_MS = 23 * 3_600_000;

/**
 * Returns what to do with a container whose status can't be read. For days, Instagram refused this read for accounts in
 * good order, and published their containers. Publishing one that isn't ready is refused, and does no harm.
 */
export function guessState(
  { createdAt }: Pick<Container, "createdAt">,
  kind: keyof typeof WORK_MS,
  now: Date,
): "working" | "finished" | "ended" {
  const ageMs = now.getTime() - Date.parse(createdAt);
  if (ageMs >= LIFE_MS) return "ended";
  return ageMs < WORK_MS[kind] ? "working" : "finished";
}

export async function lookAtContainer(
  as: AsAccount,
  { id }: Pick<Container, "id">,
): Promise<ContainerState> {
  const query = { fields: "status_code,status" };
  const request = graphGet(accessOf(as), encodeURIComponent(id), query);
  const seen = await ask(request, { read: readStatus, classify }, as.tools);
  if ("failure" in seen) {
    if (seen.kind === "try_later" || isVerdict(seen)) return { kind: "unknown", outcome: seen };
    const { networkCode, note = "" } = seen.failure;
    const said = `Instagram does not show the container: ${networkCode ?? ""} ${note}`;
    return { kind: "unreadable", note: said };
  }
  const { status, code } = seen;
  return code === "ERROR" || code === "EXPIRED"
    ? { kind: "failed", classified: classifyStatus(status || code) }
    : { kind: STATES[code] ?? "working" };
}

export type Fields = Readonly<Record<string, string | undefined>>;

/**
 * Returns the fields that describe a container's file. Instagram fetches files itself. A file that doesn't fit is
 * fetched from us.
 */
export async function fileFields(
  { draft, remote, tools }: Leg,
  mediaIndex: number,
): Promise<{ readonly fields: Fields } | TryLater | Rejection> {
  const item = draft.media[mediaIndex];
  if (item === undefined) throw new Error("a container without a media item");
  const { url } = item;
  if (remote.kinds[mediaIndex] === "video")
    return withFile("instagram", mediaIndex, async () => ({
      fields: { video_url: encodedAddress(await tools.addressOf(url)) },
    }));
  // A story has no alternative text.
  const alt_text = isStory(remote.form) ? undefined : item.altText || undefined;
  const image_url = await imageAddress({ url, mediaIndex }, media(draft).image, tools);
  return typeof image_url === "string" ? { fields: { image_url, alt_text } } : image_url;
}

/** Returns the field with a reel's cover, if it has one. */
export async function coverField({
  draft,
  tools,
}: Leg): Promise<{ readonly fields: Fields } | TryLater | Rejection> {
  const [cover] = pictures(draft);
  if (cover === undefined) return { fields: {} };
  const cover_url = await withPicture("instagram", "coverUrl", () =>
    imageAddress({ url: cover.url }, cover.target, tools),
  );
  return typeof cover_url === "string" ? { fields: { cover_url } } : cover_url;
}

/** Returns the address at which Instagram fetches an image: its own, or ours if it has to be changed. */
async function imageAddress(
  image: { readonly url: string; readonly mediaIndex?: number },
  target: ImageTarget,
  tools: NetworkTools,
): Promise<string | TryLater | Rejection> {
  const { url } = image;
  const fitted = await repairedImage("instagram", image, target, tools);
  if (fitted !== undefined && "failure" in fitted) return fitted;
  return withFile("instagram", image.mediaIndex, async () =>
    fitted === undefined
      ? encodedAddress(await tools.addressOf(url))
      : tools.fittedUrl({ url, target, fitted }),
  );
}
