import { estimateTokens, priceOf } from "../../ledger/ledger.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import type { PublishingScope } from "../../connections/connections.ts";
import { refuseIssues } from "../../runtime/errors.ts";
import { factsOfFiles, findFiles } from "../../files/files.ts";
import { newId } from "../../runtime/ids.ts";
import type { NetworkName } from "../../networks/networks.ts";
import type { PublishingDeps } from "../deps.ts";
import { errorsOf } from "../problems.ts";
import type { Draft } from "../post.ts";
import { addressesOf, checkMedia, withMedia, type MediaCheck } from "./check-media.ts";
import { checkPost, checkView } from "./check-post.ts";
import { fileIssues, scheduleIssues } from "./schema.ts";

export interface ValidatePost {
  readonly draft: Draft;
  /** Whether every media URL is fetched and checked, which is charged per URL. */
  readonly media: boolean;
}

export interface ValidationResult {
  readonly valid: boolean;
  readonly tokensEstimate: number;
  readonly platforms: Readonly<Partial<Record<NetworkName, ReturnType<typeof checkView>>>>;
  readonly media: readonly MediaCheck[];
}

async function chargeValidation(
  deps: PublishingDeps,
  scope: ProfileScope,
  mediaUrls: number,
): Promise<void> {
  const paid = {
    // Never the request's id: callers choose that one, and a repeated id would be charged once.
    operationId: newId("request", deps.clock.now()),
    applicationId: scope.applicationId,
    profileId: scope.profileId,
    postId: null,
    network: null,
    actor: actorOf(scope.caller),
    requestId: scope.requestId,
  };
  const call = { ...paid, operation: "posts.validate", tokens: priceOf("posts.validate") } as const;
  const tokens = priceOf("media.validate") * mediaUrls;
  const media = { ...paid, operation: "media.validate", tokens } as const;
  await deps.ledger.chargeTogether(scope.platformId, mediaUrls > 0 ? [call, media] : [call]);
}

/**
 * Runs the rules that accepting runs, without publishing. Charges first.
 * @throws AppError 402; `rate_limited` when too many requests wait for files
 */
export async function validatePost(
  deps: PublishingDeps,
  scope: PublishingScope,
  asked: ValidatePost,
): Promise<ValidationResult> {
  const work = () => validate(deps, scope, asked);
  return asked.media ? await deps.connections.waits.run(scope.platformId, work) : await work();
}

async function validate(
  deps: PublishingDeps,
  scope: PublishingScope,
  { draft, media }: ValidatePost,
): Promise<ValidationResult> {
  const now = deps.clock.now();
  const { publicBaseUrl } = deps.config;
  refuseIssues([
    ...fileIssues({ ...draft }, publicBaseUrl),
    ...scheduleIssues(draft.scheduleAt, now),
  ]);
  const all = addressesOf(draft);
  const files = await findFiles(
    deps.files,
    scope,
    all.map(({ url }) => url),
  );
  const facts = factsOfFiles(
    files,
    draft.scheduleAt === null ? now : new Date(draft.scheduleAt),
    now,
  );
  const addresses = media ? all.filter(({ url }) => !facts.has(url)) : [];
  await chargeValidation(deps, scope, addresses.length);
  const [checks, looked] = await Promise.all([
    checkPost(deps, draft, scope.connections),
    checkMedia(deps, scope.platformId, addresses),
  ]);
  // Files that were uploaded here are checked by every call, as when the post is accepted.
  const publishable = checks
    .map((check) => withMedia(check, draft, { found: facts }))
    .filter((check) => errorsOf(check).length === 0);
  const found = new Map([...facts, ...looked.found]);
  const checked = checks.map((check) => withMedia(check, draft, { found }));
  return {
    valid:
      checked.every((check) => errorsOf(check).length === 0) && looked.checks.every(({ ok }) => ok),
    // Accepting reads no file. For a leg that a file will fail, it reserves tokens and releases them later.
    tokensEstimate: estimateTokens(
      publishable.map(({ network }) => network),
      draft.scheduleAt !== null,
    ),
    platforms: Object.fromEntries(
      checked.map((check) => [
        check.network,
        checkView(check, deps.config.publicBaseUrl, scope.locale),
      ]),
    ),
    media: looked.checks,
  };
}
