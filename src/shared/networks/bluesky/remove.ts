import * as z from "zod";
import type { FollowUpCall } from "../contract/network.ts";
import { removal } from "../contract/removal.ts";
import { callAsAccount } from "./account-call.ts";
import { missingForRemoval } from "./client-documents.ts";
import { classifyFor } from "./moved.ts";
import { COLLECTION, credentialsOf } from "./state.ts";

/** Deletes the record. The server answers the same where there is none (`deleteRecord.ts` of its PDS). */
export const remove: FollowUpCall = {
  ...removal({
    send({ leg }, tools) {
      const credentials = credentialsOf(leg.credentials);
      const rkey = leg.externalId.slice(leg.externalId.lastIndexOf("/") + 1);
      return callAsAccount(
        credentials,
        {
          method: "POST",
          url: `${credentials.pds}/xrpc/com.atproto.repo.deleteRecord`,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ repo: credentials.did, collection: COLLECTION, rkey }),
        },
        tools,
      );
    },
    isGone: (answer) => answer.status === 200 && z.object({}).safeParse(answer.json()).success,
    classify: (answer, { leg }, tools) =>
      classifyFor(answer, credentialsOf(leg.credentials), tools),
  }),
  missingScopes: missingForRemoval,
};
