import type * as z from "zod";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type ClassifiedAnswer, exchange, readMade } from "./answers.ts";
import { mediaFailed } from "./media-check.ts";
import { MediaFailure, type OptionPicture } from "./media.ts";
import { type Rejection, type TryLater, unanswered, unpublished } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";

/** A call that publishes nothing, and how its answer is read. */
export interface NetworkQuery<Found> {
  /** Returns the contents of an answer, or undefined when it isn't the expected one. */
  readonly read: (answer: HttpResponse) => Found | undefined;
  /** Interprets any other answer. */
  readonly classify: (
    answer: HttpResponse,
    now: Date,
  ) => ClassifiedAnswer | Promise<ClassifiedAnswer>;
  readonly mediaIndex?: number | undefined;
}

/** Makes a call that publishes nothing. Returns the requested data, or what its absence means for the leg. */
export async function ask<Found>(
  request: HttpRequest,
  { read, classify, mediaIndex }: NetworkQuery<Found>,
  tools: NetworkTools,
): Promise<Found | TryLater | Rejection> {
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return unanswered(answer);
  return read(answer) ?? unpublished(await classify(answer, tools.now()), mediaIndex);
}

/** Makes the reader of answers with status 200 and this form. */
export function inForm<Form extends z.ZodType>(form: () => Form) {
  return (answer: HttpResponse): z.output<Form> | undefined =>
    answer.status === 200 ? form().safeParse(answer.json()).data : undefined;
}

/** Reads optional data. Undefined when it isn't available. */
export async function tryRead<Form extends z.ZodType>(
  request: HttpRequest,
  form: () => Form,
  tools: NetworkTools,
): Promise<z.output<Form> | undefined> {
  const answer = await exchange(tools, request);
  return answer instanceof HttpFailure ? undefined : inForm(form)(answer);
}

/** Makes the cheap read of an account check. A page of a proxy also has status 200, but no id. */
export async function probe(
  request: HttpRequest,
  classify: NetworkQuery<unknown>["classify"],
  tools: NetworkTools,
): Promise<{ readonly kind: "usable" } | TryLater | Rejection> {
  const read = (answer: HttpResponse) =>
    readMade(answer) === undefined ? undefined : ({ kind: "usable" } as const);
  return ask(request, { read, classify }, tools);
}

/** Runs code that reads a customer's file. Returns the outcome of a file that can't be fetched or is refused. */
export async function withFile<Of>(
  network: string,
  mediaIndex: number | undefined,
  run: () => Promise<Of>,
): Promise<Of | TryLater | Rejection> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof MediaFailure) return mediaFailed(network, error, mediaIndex);
    throw error;
  }
}

/** Runs code that reads the picture of an option, which a refusal names as its field. */
export async function withPicture<Of extends object | string>(
  network: string,
  option: OptionPicture["option"],
  run: () => Promise<Of | TryLater | Rejection>,
): Promise<Of | TryLater | Rejection> {
  const outcome = await withFile(network, undefined, run);
  if (typeof outcome !== "object" || outcome === null || !("failure" in outcome)) return outcome;
  const { failure } = outcome;
  if (failure.code !== "media_rejected" && failure.code !== "media_unreachable") return outcome;
  return { ...outcome, failure: { ...failure, field: `platformOptions.${network}.${option}` } };
}
