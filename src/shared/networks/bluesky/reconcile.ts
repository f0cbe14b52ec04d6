import * as z from "zod";
import { exchange } from "../contract/answers.ts";
import {
  legFailure,
  askAgain,
  type Published,
  type ReconcileOutcome,
} from "../contract/outcome.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { credentialsOf, type Credentials, type Remote, COLLECTION, remoteOf } from "./state.ts";
import { classify, xrpcError } from "./errors.ts";

const ASK_AGAIN_SECONDS = 30;
/** What an earlier call set off is done by then, whatever became of its answer. */
const SETTLED_MS = 30_000;

/** Reads the record under its key, which shows whether the post was published. */
export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  const remote = remoteOf(leg.remote);
  const answer = await exchange(tools, getRecord(remote, credentialsOf(leg.credentials)));
  return readGet(answer, leg, tools.now());
}

/**
 * Returns the request for the record. It is public, so that it can be read for an account that lost its authorisation.
 */
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

function readGet(
  answer: HttpResponse | HttpFailure,
  { sentAt, remote }: LegToPublish,
  now: Date,
): ReconcileOutcome {
  if (answer instanceof HttpFailure) {
    return askAgain(answer.message);
  }
  const published = readRecord(answer, remoteOf(remote));
  if (published !== undefined) return published;
  const error = xrpcError(answer);
  // Older servers say it by an InvalidRequest with the same message.
  const isAbsent =
    error?.error === "RecordNotFound" ||
    (error?.error === "InvalidRequest" && /could not locate record/i.test(error.message ?? ""));
  if (isAbsent) {
    // Repeating is harmless at any time; that nothing was published is certain only when no call is under way.
    const isSettled = sentAt === null || now.getTime() - sentAt.getTime() >= SETTLED_MS;
    return { kind: "may_publish", isAbsent: isSettled };
  }
  const classified = classify(answer, now);
  return {
    kind: "ask_again",
    failure: legFailure({ ...classified, code: "outcome_unknown" }),
    pollAfterSeconds: classified.retryAfterSeconds ?? ASK_AGAIN_SECONDS,
  };
}

/** Returns the leg's post if an answer names it: another record's name says nothing of it. */
export function readRecord(answer: HttpResponse, { rkey }: Remote): Published | undefined {
  const shape = z.object({ uri: z.templateLiteral(["at://", z.string()]) });
  const parsed = shape.safeParse(answer.json());
  if (answer.status !== 200 || !parsed.success) return undefined;
  const [did = "", collection, key] = parsed.data.uri.slice("at://".length).split("/");
  if (collection !== COLLECTION || key !== rkey) return undefined;
  return {
    kind: "published",
    networkPostId: parsed.data.uri,
    url: `https://bsky.app/profile/${did}/post/${rkey}`,
  };
}
