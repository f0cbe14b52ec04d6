import type * as z from "zod";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type Classified, exchange, readMade } from "./answers.ts";
import { mediaFailed } from "./media-check.ts";
import { MediaFailure } from "./media.ts";
import { type Rejected, type TryLater, unanswered, unpublished } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";

/** A call that shows nothing to anyone, and how its answer is read. */
export interface Asked<Found> {
  /** Returns what an answer holds; undefined where it is not what was asked for. */
  readonly read: (answer: HttpResponse) => Found | undefined;
  /** Returns what any other answer means. */
  readonly classify: (answer: HttpResponse, now: Date) => Classified | Promise<Classified>;
  readonly mediaIndex?: number | undefined;
}

/** Makes a call that publishes nothing. Returns what was asked for, or what its absence means for the leg. */
export async function ask<Found>(
  request: HttpRequest,
  { read, classify, mediaIndex }: Asked<Found>,
  tools: NetworkTools,
): Promise<Found | TryLater | Rejected> {
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return unanswered(answer);
  return read(answer) ?? unpublished(await classify(answer, tools.now()), mediaIndex);
}

/** Returns the reader of answers with status 200 and this form. */
export function inForm<Form extends z.ZodType>(form: () => Form) {
  return (answer: HttpResponse): z.output<Form> | undefined =>
    answer.status === 200 ? form().safeParse(answer.json()).data : undefined;
}

/** Reads what is nice to have; undefined where it can't be had. */
export async function tryRead<Form extends z.ZodType>(
  request: HttpRequest,
  form: () => Form,
  tools: NetworkTools,
): Promise<z.output<Form> | undefined> {
  const answer = await exchange(tools, request);
  return answer instanceof HttpFailure ? undefined : inForm(form)(answer);
}

/** Makes the cheap read of an account check. A page that somebody put in between has a 200 too, but no id. */
export async function probe(
  request: HttpRequest,
  classify: Asked<unknown>["classify"],
  tools: NetworkTools,
): Promise<{ readonly kind: "usable" } | TryLater | Rejected> {
  const read = (answer: HttpResponse) =>
    readMade(answer) === undefined ? undefined : ({ kind: "usable" } as const);
  return ask(request, { read, classify }, tools);
}

/** Runs what reads a customer's file. Returns the outcome of a file that can't be had, or is refused. */
export async function withFile<Of>(
  network: string,
  mediaIndex: number | undefined,
  run: () => Promise<Of>,
): Promise<Of | TryLater | Rejected> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof MediaFailure) return mediaFailed(network, error, mediaIndex);
    throw error;
  }
}
