import * as z from "zod";
import { spare } from "../contract/fields.ts";
import { shape } from "../../runtime/shape.ts";
import { type Classified, exchange, readId } from "../contract/answers.ts";
import { ask, withFile } from "../contract/ask.ts";
import { unanswered, unpublished, type Rejected, type TryLater } from "../contract/outcome.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphGet, graphPostForm } from "../graph/request.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { ACCOUNT_KIND, classify, classifyStatus } from "./errors.ts";
import { isStory, media } from "./rules.ts";
import { type Container, type Remote, accessOf, credentialsOf } from "./state.ts";
import { fetchableUrl } from "../graph/probe.ts";
import { IMAGE_SOURCE_BYTES_MAX } from "../contract/media.ts";

/** How far Instagram is with a container. */
export type ContainerState =
  | { readonly kind: "working" }
  | { readonly kind: "finished" }
  | { readonly kind: "published" }
  | { readonly kind: "failed"; readonly classified: Classified }
  /** Instagram does not know it, or no longer: that says nothing about what became of it. */
  | { readonly kind: "gone"; readonly classified: Classified }
  /** It did not tell. */
  | { readonly kind: "unknown"; readonly outcome: TryLater | Rejected };

const statusShape = shape(() =>
  z.object({ status_code: z.string(), status: spare(z.string(), "") }),
);

/** Creates a container, a new one each time. Instagram deletes a container that is not published within a day. */
export async function createContainer(
  leg: LegToPublish,
  fields: Readonly<Record<string, string | undefined>>,
  mediaIndex: number | undefined,
  tools: NetworkTools,
): Promise<Container | TryLater | Rejected> {
  const credentials = credentialsOf(leg.credentials);
  const path = `${credentials.userId}/media`;
  const request = graphPostForm(accessOf(credentials, tools), path, fields);
  const id = await ask(request, { read: readCreated, classify, mediaIndex }, tools);
  if (typeof id !== "string") return id;
  return { id, createdAt: tools.now().toISOString(), isReady: false };
}

/** Returns the id of what a call made or published. */
export function readCreated(answer: HttpResponse): string | undefined {
  return answer.status === 200 ? readId(answer) : undefined;
}

/** Creators can be published for, only not in stories: the connection is as good as it was. */
export function withoutStories(
  outcome: TryLater | Rejected,
  { form }: Remote,
): TryLater | Rejected {
  const { failure } = outcome;
  if (failure.rule !== ACCOUNT_KIND || !isStory(form)) return outcome;
  const clear = { ...failure, code: "invalid_request", rule: "instagram.story.account" } as const;
  return { kind: "rejected", failure: clear };
}

export async function lookAtContainer(
  leg: LegToPublish,
  { id }: Container,
  tools: NetworkTools,
): Promise<ContainerState> {
  const access = accessOf(credentialsOf(leg.credentials), tools);
  const query = { fields: "status_code,status" };
  const answer = await exchange(tools, graphGet(access, encodeURIComponent(id), query));
  return readContainer(answer, tools.now());
}

export function readContainer(answer: HttpResponse | HttpFailure, now: Date): ContainerState {
  if (answer instanceof HttpFailure) return { kind: "unknown", outcome: unanswered(answer) };
  const parsed = statusShape().safeParse(answer.json()).data;
  if (answer.status !== 200 || parsed === undefined) {
    const classified = classify(answer, now);
    if (classified.networkCode !== NOT_FOUND)
      return { kind: "unknown", outcome: unpublished(classified) };
    const ended = { code: "media_processing_failed", effect: "later" } as const;
    return { kind: "gone", classified: { ...classified, ...ended } };
  }
  switch (parsed.status_code) {
    case "IN_PROGRESS":
      return { kind: "working" };
    case "FINISHED":
      return { kind: "finished" };
    case "PUBLISHED":
      return { kind: "published" };
    case "ERROR":
    case "EXPIRED":
      return { kind: "failed", classified: classifyStatus(parsed.status || parsed.status_code) };
    default:
      // A word that the reference does not have. Taken for an end, it would have a second post made.
      return { kind: "working" };
  }
}

export type Fields = Readonly<Record<string, string | undefined>>;

/**
 * Returns the fields that describe a container's file. Instagram fetches files itself; a file that does not fit is
 * fetched from us.
 */
export async function fileFields(
  { draft }: LegToPublish,
  { form, kinds }: Remote,
  mediaIndex: number,
  tools: NetworkTools,
): Promise<{ readonly fields: Fields } | TryLater | Rejected> {
  const item = draft.media[mediaIndex];
  if (item === undefined) throw new Error("a container without a media item");
  if (kinds[mediaIndex] === "video") return { fields: { video_url: fetchableUrl(item.url) } };
  const { image } = media(draft);
  // A story has no place for one.
  const alt_text = isStory(form) ? undefined : item.altText || undefined;
  // Also when it may be only us who can't have it: what is in the file is not known, a place perhaps.
  return withFile("instagram", mediaIndex, async () => {
    const file = await tools.openMedia(item.url, { bytesMax: IMAGE_SOURCE_BYTES_MAX });
    const fitted = await tools.fitImage(file, image);
    const isFit = fitted.repairs.length === 0;
    const address = isFit
      ? fetchableUrl(item.url)
      : tools.fittedUrl({ url: item.url, target: image, fitted });
    return { fields: { image_url: address, alt_text } };
  });
}
