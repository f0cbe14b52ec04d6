import { notAccepted, mayStartOver, startOver, unconfirmed } from "../contract/outcome.ts";
import type { Outcome } from "../contract/outcome.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { callAsAccount, classifyFor } from "./account-call.ts";
import { COLLECTION, type Leg } from "./state.ts";
import { readRecord } from "./find.ts";
import { procedure } from "./request.ts";

/**
 * Puts the record under its own key, so that the server treats a repeat with the same content as a no-op. Creating it
 * instead would fail with an error that looks like an outage.
 */
export async function perform(leg: Leg): Promise<Outcome> {
  const { credentials, remote, tools } = leg;
  const { rkey, createdAt, record, reuploadedAt } = remote;
  if (record === undefined) throw new Error("the record was not prepared");
  const input = { repo: credentials.did, collection: COLLECTION, rkey, record, validate: true };
  const request = procedure(credentials.pds, "com.atproto.repo.putRecord", input);
  const answer = await callAsAccount(request, leg);
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const published = readRecord(answer, leg);
  if (published !== undefined) return published;
  const classified = await classifyFor(answer, leg);
  // The person gave no file: the picture is that of the link's page.
  if (remote.foundPicture === "sent" && classified.code === "media_rejected")
    return startOver(classified, { rkey, createdAt, foundPicture: "left_out" });
  return notAccepted(answer, classified, () => {
    const now = tools.now();
    const again = { rkey, createdAt, reuploadedAt: now.toISOString() };
    return startOver(classified, mayStartOver(reuploadedAt, now) ? again : undefined);
  });
}
