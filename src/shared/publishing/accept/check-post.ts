import { type Connection, type QuotaView, readQuota } from "../../connections/connections.ts";
import { fieldOf, type LegDraft } from "../../networks/contract/draft.ts";
import { LEG_ERRORS, type LegErrorCode } from "../../networks/contract/errors.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import { findAvailable, networkOf, type NetworkName } from "../../networks/lookup.ts";
import { unavailableFeatures } from "../../networks/lookup.ts";
import { withDocUrl } from "../../runtime/doc-url.ts";
import { AppError } from "../../runtime/errors.ts";
import { accountOf, quotaFor } from "../accounts/account-quota.ts";
import { findTextState, textHash } from "../accounts/recent-text.ts";
import type { PublishingDeps } from "../deps.ts";
import { firstLeg, type Leg } from "../leg.ts";
import { legDraft, type Draft, type Post } from "../post.ts";
import { errorsOf, warningsOf, type NetworkCheck } from "../problems.ts";

function problem(code: LegErrorCode, rule: string): Problem {
  const { message, remediation } = LEG_ERRORS[code];
  return { severity: "error", code, rule, message, remediation, field: null, mediaIndex: null };
}

function connectionProblems(connection: Connection | undefined): readonly Problem[] {
  if (connection === undefined || connection.status === "revoked")
    return [problem("connection_missing", "connection.missing")];
  if (connection.status === "needs_reauth")
    return [problem("connection_needs_reauth", "connection.needs_reauth")];
  return [];
}

/** Returns a warning for a first comment that the account has no permission for. The post is published without it. */
function commentProblems(
  network: NetworkName,
  content: LegDraft,
  connection: Connection | undefined,
): readonly Problem[] {
  if (content.options["firstComment"] === undefined || connection?.status !== "active") return [];
  if (!unavailableFeatures(network, connection.scopes).includes("firstComment")) return [];
  return [
    {
      ...problem("permission_missing", "connection.firstComment"),
      severity: "warning",
      message: "The account was linked without the permission that first comments need.",
      field: fieldOf(network, content, "firstComment"),
    },
  ];
}

/** Returns the check of a network that this build lacks, or whose app is not configured. */
function checkUnavailable(network: NetworkName, connection: Connection | undefined): NetworkCheck {
  const problems = [problem("app_misconfigured", "network.not_available")];
  return { network, problems, measure: null, connection, quota: null };
}

/** Runs a network's rules on a draft, as a pure function. `later` leaves out the connection, for a later start. */
export function checkDraft(
  draft: Draft,
  network: NetworkName,
  connection: Connection | undefined,
  when: "now" | "later" = "now",
): NetworkCheck {
  const adapter = networkOf(network);
  const content = legDraft(draft, network);
  const limits = connection?.limits ?? {};
  return {
    network,
    problems: [
      ...(when === "now" ? connectionProblems(connection) : []),
      ...(when === "now" ? commentProblems(network, content, connection) : []),
      ...adapter.check(content, limits),
    ],
    measure: adapter.measure(content, limits),
    connection,
    quota: null,
  };
}

/** Returns a network's findings as callers see them. `baseUrl` is the relay's own, where the codes are explained. */
export function checkView(check: NetworkCheck, baseUrl: string) {
  const { connection, measure } = check;
  const entry = ({ code, rule, message, remediation, field, mediaIndex }: Problem) => {
    const found = { code, rule, message, remediation, field, mediaIndex };
    return withDocUrl(found, baseUrl);
  };
  return {
    valid: errorsOf(check).length === 0,
    errors: errorsOf(check).map(entry),
    warnings: warningsOf(check).map(entry),
    usedCharacters: measure?.usedCharacters ?? null,
    maxCharacters: measure?.maxCharacters ?? null,
    quota: check.quota,
    connection: connection === undefined ? null : { id: connection.id, status: connection.status },
  };
}

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

/** Adds the findings about the network account: its quota, and whether the text was recently published to it. */
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
  // The post may belong to another profile or tenant, and must not be named then.
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
 * Checks a draft on every network: its rules and, if it is published now, the connection, the quota and the duplicates
 * of the account. Claims nothing, because a worker does that before it sends.
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

/** Returns `duplicate_content` when only this keeps every network from taking the post. */
function duplicateRefusal(checks: readonly NetworkCheck[]): AppError | undefined {
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
function unpublishableRefusal(
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

/**
 * Returns the first legs of a post, including those that a rule stops.
 * @throws AppError `duplicate_content`, `not_publishable` when no network can take the post
 */
export async function firstLegs(
  services: PublishingDeps,
  post: Post,
  connections: readonly Connection[],
  now: Date,
): Promise<readonly Leg[]> {
  const checks = await checkPost(services, post.draft, connections);
  const refusal =
    duplicateRefusal(checks) ?? unpublishableRefusal(checks, services.config.publicBaseUrl);
  if (refusal !== undefined) throw refusal;
  return checks.map((check) => firstLeg(post, check, now));
}
