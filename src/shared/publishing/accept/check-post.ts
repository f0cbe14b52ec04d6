import {
  type Connection,
  type PublishingScope,
  type QuotaView,
  readQuota,
} from "../../connections/connections.ts";
import { fieldOf, type LegDraft } from "../../networks/contract/draft.ts";
import { COMMON_RULES, FIRST_COMMENT_LACKS, type Problem } from "../../networks/contract/rules.ts";
import type { NetworkApps } from "../../networks/contract/settings.ts";
import { findAvailable, lackOf, networkOf, type NetworkName } from "../../networks/networks.ts";
import { inWords } from "../../networks/wording.ts";
import type { MediaFailure } from "../../networks/contract/media.ts";
import { factsOfFiles, findFiles, type PostFiles } from "../../files/files.ts";
import { withDocUrl } from "../../runtime/doc-url.ts";
import type { Locale } from "../../runtime/locale.ts";
import { AppError } from "../../runtime/errors.ts";
import { accountOf, quotaFor } from "../accounts/account-quota.ts";
import { findTextState, textHash } from "../accounts/recent-text.ts";
import type { PublishingDeps } from "../deps.ts";
import { firstLeg, type Leg } from "../leg.ts";
import { legDraft, type Draft, type Post } from "../post.ts";
import { addressesOf, type CheckedMedia, withMedia } from "./check-media.ts";
import { errorsOf, warningsOf, type NetworkCheck } from "../problems.ts";

const NOWHERE = { values: {}, field: null, mediaIndex: null } as const;
const EXHAUSTED = { severity: "error", code: "quota_exceeded", ...NOWHERE } as const;

/** Makes the problem of a rule that every network has. */
function problem(network: NetworkName, rule: keyof typeof COMMON_RULES): Problem {
  return { ...COMMON_RULES[rule], rule: `${network}.${rule}`, ...NOWHERE };
}

/** Returns a warning for a first comment that the account can't write. The post is published without it. */
function commentProblems(
  network: NetworkName,
  content: LegDraft,
  connection: Connection | undefined,
  apps: NetworkApps,
): readonly Problem[] {
  if (content.options["firstComment"] === undefined || connection?.status !== "active") return [];
  const lack = lackOf(network, "comment", connection.scopes, apps);
  if (lack === undefined) return [];
  const rule = FIRST_COMMENT_LACKS[lack];
  return [{ ...problem(network, rule), field: fieldOf(network, content, "firstComment") }];
}

/** Runs a network's rules on a draft, as a pure function. `isLater` leaves out the connection, for a later start. */
export function checkDraft(
  draft: Draft,
  network: NetworkName,
  connection: Connection | undefined,
  { apps, isLater = false }: { readonly apps: NetworkApps; readonly isLater?: boolean },
): NetworkCheck {
  const adapter = networkOf(network);
  const content = legDraft(draft, network);
  const limits = connection?.limits ?? {};
  const ofConnection: Problem[] = [];
  if (!isLater) {
    if (connection === undefined || connection.status === "revoked")
      ofConnection.push(problem(network, "connection.missing"));
    else if (connection.status === "needs_reauth")
      ofConnection.push(problem(network, "connection.needsReauth"));
    ofConnection.push(...commentProblems(network, content, connection, apps));
  }
  return {
    network,
    problems: [...ofConnection, ...adapter.check(content, limits)],
    measure: adapter.measure(content, limits),
    connection,
    quota: null,
  };
}

/** Returns a network's findings as callers see them. `baseUrl` is the relay's own, where the codes are explained. */
export function checkView(check: NetworkCheck, baseUrl: string, locale: Locale = "en") {
  const { connection, measure } = check;
  const entry = ({ severity: _severity, ...found }: Problem) =>
    withDocUrl(inWords(found, { network: check.network, locale }), baseUrl);
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
  deps: PublishingDeps,
  draft: Draft,
  { network, connection }: NetworkCheck,
): Promise<{ readonly quota: QuotaView | null; readonly problems: readonly Problem[] }> {
  if (connection === undefined) return { quota: null, problems: [] };
  const quota = quotaFor(deps, draft, network, { limits: connection.limits });
  if (quota === undefined) return { quota: null, problems: [] };
  const view = await readQuota(deps.connections, connection, quota);
  const problems =
    view.remaining > 0 ? [] : [{ ...EXHAUSTED, rule: `${network}.quota.${quota.kind}` }];
  return { quota: view, problems };
}

/** Adds the findings about the network account: its quota, and whether the text was recently published to it. */
async function checkQuotaAndDuplicates(
  deps: PublishingDeps,
  draft: Draft,
  check: NetworkCheck,
): Promise<NetworkCheck> {
  const { network, connection } = check;
  const hash = textHash(legDraft(draft, network).text);
  const [{ quota, problems }, text] = await Promise.all([
    checkQuota(deps, draft, check),
    hash !== undefined && connection !== undefined
      ? findTextState(deps, accountOf(connection), hash)
      : undefined,
  ]);
  if (text?.state.kind !== "published")
    return { ...check, quota, problems: [...check.problems, ...problems] };
  const { claim, allowedAfter } = text.state;
  // The post may belong to another profile or tenant, and must not be named then.
  const isOwn = claim.ref.profileId === connection?.profileId;
  const field = fieldOf(network, legDraft(draft, network), "text");
  return {
    ...check,
    quota,
    problems: [...check.problems, ...problems, { ...problem(network, "text.duplicate"), field }],
    duplicate: { postId: isOwn ? claim.ref.postId : null, allowedAfter },
  };
}

/**
 * Checks a draft on every network: its rules and, if it is published now, the connection, the quota and the duplicates
 * of the account. Claims nothing, because a worker does that before it sends.
 */
export async function checkPost(
  deps: PublishingDeps,
  draft: Draft,
  connections: readonly Connection[],
): Promise<NetworkCheck[]> {
  const isNow = draft.scheduleAt === null;
  const checks = draft.networks.map((network): NetworkCheck => {
    const connection = connections.find((linked) => linked.network === network);
    const { networkApps: apps } = deps.config;
    if (findAvailable(network, apps) !== undefined)
      return checkDraft(draft, network, connection, { apps, isLater: !isNow });
    // This build lacks the network, or its app is not configured.
    const problems = [problem(network, "network.notConfigured")];
    return { network, problems, measure: null, connection, quota: null };
  });
  if (!isNow) return checks;
  return Promise.all(checks.map((check) => checkQuotaAndDuplicates(deps, draft, check)));
}

/** Returns `duplicate_content` when only this keeps every network from accepting the post. */
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

/** The first legs of a post, and how they are made when some of its files can no longer be used. */
export interface FirstLegs {
  readonly legs: readonly Leg[];
  readonly files: PostFiles;
  /** When the post is due, which decides how long its files are kept. */
  readonly due: Date;
  /** Makes the legs without these files. @throws AppError `not_publishable` when no network can accept the post */
  without(failures: ReadonlyMap<string, MediaFailure>): readonly Leg[];
}

/**
 * Checks a post with what is stored of its files, and returns its first legs, including those that a rule stops.
 * @throws AppError `duplicate_content`, `not_publishable` when no network can accept the post
 */
export async function firstLegs(
  deps: PublishingDeps,
  post: Post,
  { connections, locale }: Pick<PublishingScope, "connections" | "locale">,
  now: Date,
): Promise<FirstLegs> {
  const { draft } = post;
  const due = draft.scheduleAt === null ? now : new Date(draft.scheduleAt);
  const urls = addressesOf(draft).map(({ url }) => url);
  // Nothing else depends on the files, so they are read together with the rows of the accounts.
  const [files, accounts] = await Promise.all([
    findFiles(deps.files, post, urls),
    checkPost(deps, draft, connections),
  ]);
  const facts = factsOfFiles(files, due, now);
  const legsWith = (found: CheckedMedia["found"]) => {
    const checks = accounts.map((check) => withMedia(check, draft, { found }));
    return legsOf(deps, post, { checks, locale, now });
  };
  return {
    legs: legsWith(facts),
    files,
    due,
    without: (failures) => legsWith(new Map([...facts, ...failures])),
  };
}

/** Returns the legs of a checked post. @throws AppError `duplicate_content`, `not_publishable` */
function legsOf(
  deps: PublishingDeps,
  post: Post,
  {
    checks,
    locale,
    now,
  }: {
    readonly checks: readonly NetworkCheck[];
    readonly locale: Locale | undefined;
    readonly now: Date;
  },
): readonly Leg[] {
  const refusal = duplicateRefusal(checks);
  if (refusal !== undefined) throw refusal;
  if (checks.every((check) => errorsOf(check).length > 0)) {
    const { publicBaseUrl } = deps.config;
    const platforms = Object.fromEntries(
      checks.map((check) => [check.network, checkView(check, publicBaseUrl, locale)]),
    );
    const message = "None of the requested networks can publish this post.";
    throw new AppError("not_publishable", message, { details: { platforms } });
  }
  return checks.map((check) => firstLeg(post, check, now));
}
