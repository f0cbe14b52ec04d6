import type { Connection } from "../../connections/connection.ts";
import { legDraft } from "../post.ts";
import { accountOf, quotaFor } from "../accept/judge-accounts.ts";
import { fail, tryLater, type Work } from "../publish/leg-work.ts";
import { claimText, textHash } from "./recent-text.ts";

/** How soon a leg looks again whether the one with the same text went out. */
const TWIN_SECONDS = 5;

/**
 * Takes the account's text and quota for a leg before anything is sent; repeatable. False when another leg has them:
 * this one then ended, or waits for what becomes of its twin.
 */
export async function claimAccount(work: Work, connection: Connection): Promise<boolean> {
  const { services, place, post, stored } = work;
  const { network, key } = stored.leg;
  const account = accountOf(connection);
  const hash = textHash(legDraft(post.draft, network).text);
  if (hash !== undefined) {
    const holding = await claimText(services, account, hash, { place, legKey: key });
    const failure = { code: "duplicate_content", networkCode: null } as const;
    if (holding.kind === "pending")
      await tryLater(work, { kind: "try_later", failure, retryAfterSeconds: TWIN_SECONDS });
    if (holding.kind === "published") await fail(work, failure);
    if (holding.kind !== "free") return false;
  }
  const quota = quotaFor(services, post.draft, network, connection.limits);
  if (quota === undefined) return true;
  const now = services.clock.now();
  if (await services.networkAccounts.claimQuota(account, quota, key, now)) return true;
  await fail(work, { code: "quota_exceeded", networkCode: null });
  return false;
}
