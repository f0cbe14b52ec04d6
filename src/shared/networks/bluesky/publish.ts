import type { Classified } from "../contract/answers.ts";
import {
  mayStartOver,
  notAccepted,
  startOver,
  unconfirmed,
  type PublishOutcome,
} from "../contract/outcome.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { callAsAccount } from "./account-call.ts";
import { credentialsOf, type Credentials, type Remote, COLLECTION, remoteOf } from "./state.ts";
import { classifyFor } from "./moved.ts";
import { readRecord } from "./reconcile.ts";

/**
 * Puts the record under its own key: the server takes a repeat with the same content for the no-op that it is.
 * Creating it instead would fail with an error that looks like an outage.
 */
export async function publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const remote = remoteOf(leg.remote);
  const credentials = credentialsOf(leg.credentials);
  const answer = await callAsAccount(credentials, putRecord(remote, credentials), tools);
  return readPut(answer, leg, tools);
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

async function readPut(
  answer: HttpResponse | HttpFailure,
  leg: LegToPublish,
  tools: NetworkTools,
): Promise<PublishOutcome> {
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const remote = remoteOf(leg.remote);
  const published = readRecord(answer, remote);
  if (published !== undefined) return published;
  const classified = await classifyFor(answer, credentialsOf(leg.credentials), tools);
  return notAccepted(answer, classified, () => uploadAgain(classified, remote, tools.now()));
}

function uploadAgain(classified: Classified, remote: Remote, now: Date): PublishOutcome {
  const { rkey, createdAt, reuploadedAt } = remote;
  const again = { rkey, createdAt, reuploadedAt: now.toISOString() };
  return startOver(classified, mayStartOver(reuploadedAt, now) ? again : undefined);
}
