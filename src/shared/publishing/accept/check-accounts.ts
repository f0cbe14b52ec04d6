import type { Connection, QuotaView } from "../../connections/connection.ts";
import { quotaOfKind, readQuota, type Quota } from "../../connections/view-connection.ts";
import { AppError } from "../../runtime/errors.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import { findAvailable, networkOf } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import type { NetworkAccount } from "../accounts/account-store.ts";
import { errorsOf, type NetworkCheck } from "../problems.ts";
import { checkDraft, checkUnavailable, checkView, problem } from "./check-draft.ts";
import { legDraft, type Draft } from "../post.ts";
import { findHolding, textHash } from "../accounts/recent-text.ts";

export function accountOf({ network, account }: Connection): NetworkAccount {
  return { network, accountId: account.id };
}

/** The quota that a draft would use on a network; undefined where the network has none for it. */
export function quotaFor(
  services: PublishingDeps,
  draft: Draft,
  network: NetworkCheck["network"],
  limits: NetworkData = {},
): Quota | undefined {
  const kind = networkOf(network).quotaOf?.(legDraft(draft, network));
  return kind === undefined ? undefined : quotaOfKind(services, kind, { network, limits });
}

async function checkQuota(
  services: PublishingDeps,
  draft: Draft,
  { network, connection }: NetworkCheck,
): Promise<{ readonly quota: QuotaView | null; readonly problems: readonly Problem[] }> {
  if (connection === undefined) return { quota: null, problems: [] };
  const quota = quotaFor(services, draft, network, connection.limits);
  if (quota === undefined) return { quota: null, problems: [] };
  const view = await readQuota(services, connection, quota);
  const problems =
    view.remaining > 0 ? [] : [problem("quota_exceeded", `${network}.quota.${quota.kind}`)];
  return { quota: view, problems };
}

async function findDuplicate(services: PublishingDeps, draft: Draft, check: NetworkCheck) {
  const { network, connection } = check;
  const hash = textHash(legDraft(draft, network).text);
  if (hash === undefined || connection === undefined) return undefined;
  const { holding } = await findHolding(services, accountOf(connection), hash);
  return holding.kind === "published" ? holding : undefined;
}

/** A check with what is known of the real account: its quota, and texts that were published to it of late. */
async function checkAccount(
  services: PublishingDeps,
  draft: Draft,
  check: NetworkCheck,
): Promise<NetworkCheck> {
  const [{ quota, problems }, published] = await Promise.all([
    checkQuota(services, draft, check),
    findDuplicate(services, draft, check),
  ]);
  if (published === undefined)
    return { ...check, quota, problems: [...check.problems, ...problems] };
  const { place } = published.holder;
  // Another profile's post, maybe another tenant's, must not be named.
  const isOwn = place.profileId === check.connection?.profileId;
  return {
    ...check,
    quota,
    problems: [
      ...check.problems,
      ...problems,
      problem("duplicate_content", `${check.network}.text.duplicate`),
    ],
    duplicate: { postId: isOwn ? place.postId : null, allowedAfter: published.allowedAfter },
  };
}

/**
 * What every network says of a draft: its rules, and for one that goes out at once what is linked and what the
 * accounts still take. A look only: what holds when the leg goes out is claimed then.
 */
export async function checkPost(
  services: PublishingDeps,
  draft: Draft,
  connections: readonly Connection[],
): Promise<NetworkCheck[]> {
  const isNow = draft.scheduleAt === null;
  const checks = draft.networks.map((network) => {
    const connection = connections.find((linked) => linked.network === network);
    return findAvailable(network, services.config.networkApps) === undefined
      ? checkUnavailable(network, connection)
      : checkDraft(draft, network, connection, isNow ? "now" : "later");
  });
  if (!isNow) return checks;
  return Promise.all(checks.map((check) => checkAccount(services, draft, check)));
}

/** `duplicate_content`, when that alone keeps every network from taking the post. */
export function duplicateRefusal(checks: readonly NetworkCheck[]): AppError | undefined {
  const isDuplicate = (check: NetworkCheck) =>
    check.duplicate !== undefined &&
    errorsOf(check).every(({ code }) => code === "duplicate_content");
  if (!checks.every(isDuplicate)) return undefined;
  const duplicates = checks.flatMap(({ duplicate }) => duplicate ?? []);
  const latest = duplicates.map(({ allowedAfter }) => allowedAfter).sort();
  return new AppError(
    "duplicate_content",
    "The same text was published to these accounts within the last 48 hours. Change the text.",
    {
      details: {
        postId: duplicates.find(({ postId }) => postId !== null)?.postId ?? null,
        platforms: checks.map(({ network }) => network),
        allowedAfter: latest.at(-1) ?? null,
      },
    },
  );
}

/** `not_publishable`, when not one of the networks could take the post. */
export function unpublishableRefusal(checks: readonly NetworkCheck[]): AppError | undefined {
  if (checks.some((check) => errorsOf(check).length === 0)) return undefined;
  const platforms = Object.fromEntries(checks.map((check) => [check.network, checkView(check)]));
  const message = "None of the requested networks can take this post.";
  return new AppError("not_publishable", message, { details: { platforms } });
}
