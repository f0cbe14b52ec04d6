import * as z from "zod";
import { exchange } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { notYet, legFailure } from "../contract/outcome.ts";
import type { Done, Finding } from "../contract/outcome.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { COLLECTION, type Leg } from "./state.ts";
import { classify, xrpcError } from "./errors.ts";
import { query } from "./request.ts";

const ASK_AGAIN_SECONDS = 30;
/** By then, everything that an earlier call has caused is finished. */
const VISIBLE_MS = 30_000;

/**
 * Reads the record under its key, which shows whether the post was published. It is public, so it can be read even for
 * an account that lost its authorization.
 */
export async function find(leg: Leg): Promise<Finding> {
  const { credentials, remote, sentAt, tools } = leg;
  const record = { repo: credentials.did, collection: COLLECTION, rkey: remote.rkey };
  const request = query(credentials.pds, "com.atproto.repo.getRecord", record);
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return notYet(answer.message);
  const published = readRecord(answer, leg);
  if (published !== undefined) return published;
  // Whether there is no such record. Older servers answer with an InvalidRequest and the same message.
  const { error, message = "" } = xrpcError(answer) ?? {};
  const isSaid = error === "InvalidRequest" && /could not locate record/i.test(message);
  if (error === "RecordNotFound" || isSaid) {
    // Repeating is always harmless. That nothing was published is only certain when no call is running.
    const hasHadTime = sentAt === null || tools.now().getTime() - sentAt.getTime() >= VISIBLE_MS;
    return { kind: hasHadTime ? "absent" : "repeatable" };
  }
  const classified = classify(answer, tools.now());
  return {
    kind: "not_yet",
    failure: legFailure({ ...classified, code: "outcome_unknown" }),
    pollAfterSeconds: classified.retryAfterSeconds ?? ASK_AGAIN_SECONDS,
  };
}

/** Returns the leg's post if an answer names it. The name of another record or account says nothing about it. */
export function readRecord(
  answer: HttpResponse,
  { credentials: { did }, remote: { rkey } }: Pick<Leg, "credentials" | "remote">,
): Done | undefined {
  const externalId = `at://${did}/${COLLECTION}/${rkey}`;
  if (inForm(() => z.object({ uri: z.string() }))(answer)?.uri !== externalId) return undefined;
  return { kind: "done", externalId, url: `https://bsky.app/profile/${did}/post/${rkey}` };
}
