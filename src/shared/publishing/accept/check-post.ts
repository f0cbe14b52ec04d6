import { type Connection, type QuotaView, readQuota } from "../../connections/connections.ts";
import { AppError } from "../../runtime/errors.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import { findAvailable } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import { accountOf, quotaFor } from "../accounts/account-quota.ts";
import { errorsOf, type NetworkCheck } from "../problems.ts";
import { checkDraft, checkUnavailable, checkView, problem } from "./check-draft.ts";
import { legDraft, type Draft } from "../post.ts";
import { findTextState, textHash } from "../accounts/recent-text.ts";

async function checkQuota(
  services: PublishingDeps,
  draft: Draft,
  { network, connection }: NetworkCheck,
): Promise<{ readonly quota: QuotaView | null; readonly problems: readonly Problem[] }> {
  if (connection === undefined) return { quota: null, problems: [] };
  const quota = quotaFor(services, draft, network, { limits: connection.limits });
  if (quota === undefined) return { quota: null, problems: [] };
  const view = await readQuota(services.connections, connection, quota);
  const problems =
    view.remaining > 0 ? [] : [problem("quota_exceeded", `${network}.quota.${quota.kind}`)];
  return { quota: view, problems };
}

async function findDuplicate(services: PublishingDeps, draft: Draft, check: NetworkCheck) {
  const { network, connection } = check;
  const hash = textHash(legDraft(draft, network).text);
  if (hash === undefined || connection === undefined) return undefined;
  const { state } = await findTextState(services, accountOf(connection), hash);
  return state.kind === "published" ? state : undefined;
}

/** Adds the findings on the real account: its quota, and whether the text was recently published to it. */
async function checkQuotaAndDuplicates(
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
  const { ref } = published.claim;
  // The post may be another profile's or tenant's, which must not be named.
  const isOwn = ref.profileId === check.connection?.profileId;
  return {
    ...check,
    quota,
    problems: [
      ...check.problems,
      ...problems,
      problem("duplicate_content", `${check.network}.text.duplicate`),
    ],
    duplicate: { postId: isOwn ? ref.postId : null, allowedAfter: published.allowedAfter },
  };
}

/**
 * Checks a draft on every network: its rules and, if it is published at once, the connection, the quota and the
 * duplicates of the account. Claims nothing; a worker does that before it sends.
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
  return Promise.all(checks.map((check) => checkQuotaAndDuplicates(services, draft, check)));
}

/** Returns `duplicate_content` when this alone keeps every network from taking the post. */
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

/** Returns `not_publishable` when no network can take the post. */
export function unpublishableRefusal(
  checks: readonly NetworkCheck[],
  baseUrl: string,
): AppError | undefined {
  if (checks.some((check) => errorsOf(check).length === 0)) return undefined;
  const platforms = Object.fromEntries(
    checks.map((check) => [check.network, checkView(check, baseUrl)]),
  );
  const message = "None of the requested networks can take this post.";
  return new AppError("not_publishable", message, { details: { platforms } });
}
