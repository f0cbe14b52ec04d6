import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import type { Classified } from "../contract/classified.ts";
import { exchange, unanswered, unpublished } from "../contract/classified.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphGet, graphPostForm } from "../graph/request.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { LegToPublish, NetworkTools, Rejected, TryLater } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { ACCOUNT_KIND, classify, classifyStatus } from "./errors.ts";
import { isStory } from "./forms.ts";
import type { Container, Remote } from "./state.ts";
import { accessOf, credentialsOf } from "./state.ts";

/** How far Instagram is with a container. */
export type ContainerState =
  | { readonly kind: "working" }
  | { readonly kind: "finished" }
  | { readonly kind: "published" }
  | { readonly kind: "failed"; readonly classified: Classified }
  /** Instagram does not know it, or no longer: that says nothing about what became of it. */
  | { readonly kind: "gone"; readonly classified: Classified }
  /** It did not tell. */
  | { readonly kind: "untold"; readonly outcome: TryLater | Rejected };

const statusShape = shape(() =>
  z.object({ status_code: z.string(), status: z.string().catch("") }),
);

/** Made anew each time: a container that nobody publishes is thrown away after a day. */
export async function createContainer(
  leg: LegToPublish,
  fields: Readonly<Record<string, string | undefined>>,
  mediaIndex: number | undefined,
  tools: NetworkTools,
): Promise<Container | TryLater | Rejected> {
  const credentials = credentialsOf(leg.credentials);
  const path = `${credentials.userId}/media`;
  const request = graphPostForm(accessOf(credentials, tools), path, fields);
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return unanswered(answer);
  const parsed = z.object({ id: z.coerce.string().min(1) }).safeParse(answer.json());
  if (answer.status !== 200 || !parsed.success)
    return unpublished(classify(answer, tools.now()), mediaIndex);
  const createdAt = tools.now().toISOString();
  return { id: parsed.data.id, createdAt, isFinished: false };
}

/** Creators can be published for, only not in stories: the connection is as good as it was. */
export function withoutStories(
  outcome: TryLater | Rejected,
  { form }: Remote,
): TryLater | Rejected {
  const { failure } = outcome;
  if (failure.rule !== ACCOUNT_KIND || !isStory(form)) return outcome;
  const told = { ...failure, code: "invalid_request", rule: "instagram.story.account" } as const;
  return { kind: "rejected", failure: told };
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
  if (answer instanceof HttpFailure) return { kind: "untold", outcome: unanswered(answer) };
  const parsed = statusShape().safeParse(answer.json()).data;
  if (answer.status !== 200 || parsed === undefined) {
    const classified = classify(answer, now);
    if (classified.networkCode !== NOT_FOUND)
      return { kind: "untold", outcome: unpublished(classified) };
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
    default:
      return { kind: "failed", classified: classifyStatus(parsed.status || parsed.status_code) };
  }
}
