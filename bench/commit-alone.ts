import { randomUUID } from "node:crypto";
import type { NetworkName } from "../src/shared/networks/lookup.ts";
import { newId } from "../src/shared/runtime/ids.ts";
import { acceptOperation } from "../src/shared/publishing/accept/accept.ts";
import { firstLeg } from "../src/shared/publishing/leg.ts";
import { checkDraft } from "../src/shared/publishing/accept/check-draft.ts";
import { type Draft, type Post, refOf } from "../src/shared/publishing/post.ts";
import type { Services } from "../src/shared/compose.ts";
import type { Tenant } from "./relay.ts";

function postOf(tenant: Tenant, text: string, networks: readonly NetworkName[]): Post {
  const now = new Date();
  const at = now.toISOString();
  const draft: Draft = {
    text,
    networks,
    mediaUrls: [],
    altTexts: [],
    platformOptions: {},
    scheduleAt: null,
    externalId: null,
    metadata: {},
  };
  return {
    id: newId("post", now),
    platformId: tenant.platformId,
    applicationId: tenant.applicationId,
    profileId: tenant.profileId,
    status: "processing",
    draft,
    revision: "",
    requestId: newId("request", now),
    traceId: null,
    actor: { kind: "system", id: "bench" },
    createdAt: at,
    updatedAt: at,
    eventSequence: 0,
    startedAt: at,
    completedAt: null,
  };
}

/**
 * What accepting writes, without what it reads first: the transaction by group commit, then the hint. The difference
 * to the whole is what the request's reads and checks cost.
 */
export async function commitAlone(
  services: Services,
  tenant: Tenant,
  networks: readonly NetworkName[],
): Promise<void> {
  const idempotencyKey = randomUUID();
  const post = postOf(tenant, `Measured ${idempotencyKey}`, networks);
  const now = new Date(post.createdAt);
  const legs = networks.map((network) =>
    firstLeg(post, { ...checkDraft(post.draft, network, undefined), problems: [] }, now),
  );
  const accepted = await services.wallets.commit(
    tenant.platformId,
    acceptOperation({
      idempotencyKey,
      found: { post, legs },
      accepted: {
        fingerprint: idempotencyKey,
        postId: post.id,
        profileId: post.profileId,
        httpStatus: 202,
      },
      pace: services.config.publishing,
      accessVersion: services.wallets.lastAccessVersion(tenant.platformId) ?? "",
    }),
  );
  if (accepted.postId !== post.id) throw new Error("a new key stood for another post");
  await services.publishQueue.hint({ kind: "legs", ...refOf(post), networks: [...networks] });
}
