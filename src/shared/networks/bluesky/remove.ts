import * as z from "zod";
import { inForm } from "../contract/ask.ts";
import type { FollowUpCall } from "../contract/visible-call.ts";
import { removal } from "../contract/removal.ts";
import { callAsAccount, classifyFor } from "./account-call.ts";
import { missingForRemoval } from "./client-documents.ts";
import { procedure } from "./request.ts";
import { type Call, COLLECTION, steps } from "./state.ts";

/** Deletes the record. The server's answer is the same when there is none (`deleteRecord.ts` of bluesky-social/atproto). */
const deletion = removal({
  send(call: Call) {
    const { credentials, externalId } = call;
    const rkey = externalId.slice(externalId.lastIndexOf("/") + 1);
    const record = { repo: credentials.did, collection: COLLECTION, rkey };
    const request = procedure(credentials.pds, "com.atproto.repo.deleteRecord", record);
    return callAsAccount(request, call);
  },
  isGone: (answer) => inForm(() => z.object({}))(answer) !== undefined,
  classify: classifyFor,
});

export const remove: FollowUpCall = {
  ...steps.following(deletion),
  missingScopes: missingForRemoval,
};
