import type { Connection, QuotaView } from "../../connections/connection.ts";
import { quotaOfKind, readQuota, type Quota } from "../../connections/quota.ts";
import { AppError } from "../../runtime/errors.ts";
import type { NetworkData, Problem } from "../../networks/contract/network.ts";
import { findAvailable, networkOf } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import type { NetworkAccount } from "../accounts/account-store.ts";
import { errorsOf, type Judgement } from "./judgement.ts";
import { judgeDraft, judgeUnavailable, judgementView, problem } from "./check-draft.ts";
import { type Draft, legDraft } from "../post.ts";
import { findHolding, textHash } from "../accounts/recent-text.ts";

export function accountOf({ network, account }: Connection): NetworkAccount {
  return { network, accountId: account.id };
}

/** The quota that a draft would use on a network; undefined where the network has none for it. */
export function quotaFor(
  services: PublishingDeps,
  draft: Draft,
  network: Judgement["network"],
  limits: NetworkData = {},
): Quota | undefined {
  const kind = networkOf(network).quotaOf?.(legDraft(draft, network));
  return kind === undefined ? undefined : quotaOfKind(services, kind, { network, limits });
}

async function judgeQuota(
  services: PublishingDeps,
  draft: Draft,
  { network, connection }: Judgement,
): Promise<{ readonly quota: QuotaView | null; readonly problems: readonly Problem[] }> {
  if (connection === undefined) return { quota: null, problems: [] };
  const quota = quotaFor(services, draft, network, connection.limits);
  if (quota === undefined) return { quota: null, problems: [] };
  const view = await readQuota(services, connection, quota);
  const problems =
    view.remaining > 0 ? [] : [problem("quota_exceeded", `${network}.quota.${quota.kind}`)];
  return { quota: view, problems };
}

async function judgeText(services: PublishingDeps, draft: Draft, judgement: Judgement) {
  const { network, connection } = judgement;
  const hash = textHash(legDraft(draft, network).text);
  if (hash === undefined || connection === undefined) return undefined;
  const { holding } = await findHolding(services, accountOf(connection), hash);
  return holding.kind === "published" ? holding : undefined;
}

/** A judgement with what is known of the real account: its quota, and texts that were published to it of late. */
async function judgeAccount(
  services: PublishingDeps,
  draft: Draft,
  judgement: Judgement,
): Promise<Judgement> {
  const [{ quota, problems }, published] = await Promise.all([
    judgeQuota(services, draft, judgement),
    judgeText(services, draft, judgement),
  ]);
  if (published === undefined)
    return { ...judgement, quota, problems: [...judgement.problems, ...problems] };
  const { place } = published.holder;
  // Another profile's post, maybe another tenant's, must not be named.
  const isOwn = place.profileId === judgement.connection?.profileId;
  return {
    ...judgement,
    quota,
    problems: [
      ...judgement.problems,
      ...problems,
      problem("duplicate_content", `${judgement.network}.text.duplicate`),
    ],
    duplicate: { postId: isOwn ? place.postId : null, allowedAfter: published.allowedAfter },
  };
}

/**
 * What every network says of a draft: its rules, and for one that goes out at once what is linked and what the
 * accounts still take. A look only: what holds when the leg goes out is claimed then.
 */
export async function judgePost(
  services: PublishingDeps,
  draft: Draft,
  connections: readonly Connection[],
): Promise<Judgement[]> {
  const isNow = draft.scheduleAt === null;
  const judgements = draft.networks.map((network) => {
    const connection = connections.find((linked) => linked.network === network);
    return findAvailable(network, services.config.networkApps) === undefined
      ? judgeUnavailable(network, connection)
      : judgeDraft(draft, network, connection, isNow ? "now" : "later");
  });
  if (!isNow) return judgements;
  return Promise.all(judgements.map((judgement) => judgeAccount(services, draft, judgement)));
}

/** `duplicate_content`, when that alone keeps every network from taking the post. */
export function duplicateRefusal(judgements: readonly Judgement[]): AppError | undefined {
  const isDuplicate = (judgement: Judgement) =>
    judgement.duplicate !== undefined &&
    errorsOf(judgement).every(({ code }) => code === "duplicate_content");
  if (!judgements.every(isDuplicate)) return undefined;
  const duplicates = judgements.flatMap(({ duplicate }) => duplicate ?? []);
  const latest = duplicates.map(({ allowedAfter }) => allowedAfter).sort();
  return new AppError(
    "duplicate_content",
    "The same text was published to these accounts within the last 48 hours. Change the text.",
    {
      details: {
        postId: duplicates.find(({ postId }) => postId !== null)?.postId ?? null,
        platforms: judgements.map(({ network }) => network),
        allowedAfter: latest.at(-1) ?? null,
      },
    },
  );
}

/** `not_publishable`, when not one of the networks could take the post. */
export function unpublishableRefusal(judgements: readonly Judgement[]): AppError | undefined {
  if (judgements.some((judgement) => errorsOf(judgement).length === 0)) return undefined;
  const platforms = Object.fromEntries(
    judgements.map((judgement) => [judgement.network, judgementView(judgement)]),
  );
  const message = "None of the requested networks can take this post.";
  return new AppError("not_publishable", message, { details: { platforms } });
}
