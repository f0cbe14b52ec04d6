import * as z from "zod";
import type { Classified } from "../classified.ts";
import { exchange, failureOf, unanswered, unpublished } from "../classified.ts";
import type {
  HttpRequest,
  HttpResponse,
  LegToPublish,
  NetworkTools,
  Published,
  PublishOutcome,
  ReconcileOutcome,
} from "../network.ts";
import { HttpFailure } from "../network.ts";
import { callAsAccount } from "./account-call.ts";
import { credentialsOf, type Credentials } from "./credentials.ts";
import { classify, xrpcError } from "./errors.ts";
import type { Remote } from "./remote.ts";
import { COLLECTION, remoteOf } from "./remote.ts";

/** A blob that is lost again within this time ends the leg; a retry by hand, later, uploads it anew. */
const REUPLOAD_MS = 15 * 60_000;
const ASK_AGAIN_SECONDS = 30;
/** What an earlier call set off is done by then, whatever became of its answer. */
const SETTLED_MS = 30_000;

/**
 * Puts the record under its own key: the server takes a repeat with the same content for the no-op that it is.
 * Creating it instead would fail with an error that can't be told from an outage.
 */
export async function publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const remote = remoteOf(leg.remote);
  const credentials = credentialsOf(leg.credentials);
  const answer = await callAsAccount(credentials, putRecord(remote, credentials), tools);
  return readPut(answer, remote, tools.now());
}

export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  const remote = remoteOf(leg.remote);
  const answer = await exchange(tools, getRecord(remote, credentialsOf(leg.credentials)));
  return readGet(answer, leg, tools.now());
}

function putRecord(remote: Remote, credentials: Credentials): HttpRequest {
  if (remote.record === undefined) throw new Error("the record was not prepared");
  return {
    method: "POST",
    url: `${credentials.pds}/xrpc/com.atproto.repo.putRecord`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      repo: credentials.did,
      collection: COLLECTION,
      rkey: remote.rkey,
      record: remote.record,
      validate: true,
    }),
  };
}

/** Public: an account that lost its authorisation can still be asked what it published. */
function getRecord(remote: Remote, credentials: Credentials): HttpRequest {
  const query = new URLSearchParams({
    repo: credentials.did,
    collection: COLLECTION,
    rkey: remote.rkey,
  });
  return {
    method: "GET",
    url: `${credentials.pds}/xrpc/com.atproto.repo.getRecord?${query.toString()}`,
  };
}

function readPut(answer: HttpResponse | HttpFailure, remote: Remote, now: Date): PublishOutcome {
  if (answer instanceof HttpFailure) {
    return answer.delivery === "not_sent"
      ? unanswered(answer)
      : { kind: "in_doubt", failure: unknown(answer.message) };
  }
  const published = readRecord(answer);
  if (published !== undefined) return published;
  const classified = classify(answer, now);
  switch (classified.effect) {
    case "doubt":
      return { kind: "in_doubt", failure: failureOf({ ...classified, code: "outcome_unknown" }) };
    case "prepare_again":
      return uploadAgain(classified, remote, now);
    default:
      return unpublished(classified);
  }
}

function uploadAgain(classified: Classified, remote: Remote, now: Date): PublishOutcome {
  const { rkey, createdAt, reuploadedAt } = remote;
  const failure = failureOf(classified);
  const last = reuploadedAt === undefined ? 0 : Date.parse(reuploadedAt);
  if (now.getTime() - last < REUPLOAD_MS) return { kind: "rejected", failure };
  return {
    kind: "prepare_again",
    remote: { rkey, createdAt, reuploadedAt: now.toISOString() },
    failure,
    pollAfterSeconds: 0,
  };
}

function readGet(
  answer: HttpResponse | HttpFailure,
  { sentAt }: LegToPublish,
  now: Date,
): ReconcileOutcome {
  if (answer instanceof HttpFailure) {
    return {
      kind: "ask_again",
      failure: unknown(answer.message),
      pollAfterSeconds: ASK_AGAIN_SECONDS,
    };
  }
  const published = readRecord(answer);
  if (published !== undefined) return published;
  const error = xrpcError(answer);
  // Older servers say it by an InvalidRequest with the same message.
  const isAbsent =
    error?.error === "RecordNotFound" ||
    (error?.error === "InvalidRequest" && /could not locate record/i.test(error.message ?? ""));
  if (isAbsent) {
    // Repeating is harmless at any time; that nothing was published can be said only when no call is on its way.
    const isSettled = sentAt === null || now.getTime() - sentAt.getTime() >= SETTLED_MS;
    return { kind: "may_publish", isAbsent: isSettled };
  }
  const classified = classify(answer, now);
  return {
    kind: "ask_again",
    failure: failureOf({ ...classified, code: "outcome_unknown" }),
    pollAfterSeconds: classified.retryAfterSeconds ?? ASK_AGAIN_SECONDS,
  };
}

function readRecord(answer: HttpResponse): Published | undefined {
  const shape = z.object({ uri: z.templateLiteral(["at://", z.string()]) });
  const parsed = shape.safeParse(answer.json());
  if (answer.status !== 200 || !parsed.success) return undefined;
  const [did = "", , rkey = ""] = parsed.data.uri.slice("at://".length).split("/");
  return {
    kind: "published",
    networkPostId: parsed.data.uri,
    url: `https://bsky.app/profile/${did}/post/${rkey}`,
  };
}

function unknown(note: string) {
  return { code: "outcome_unknown", networkCode: null, note } as const;
}
