import { TOO_LARGE } from "../../networks/contract/bounded.ts";
import { repairWarning } from "../../networks/contract/media-check.ts";
import { breach, fieldOfRule, type Problem } from "../../networks/contract/rules.ts";
import { fieldOf, type NetworkData } from "../../networks/contract/draft.ts";
import { picturesOf } from "../../media/probe-media.ts";
import type { MediaFacts, MediaRepair } from "../../networks/contract/media.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";
import { accountOf, quotaFor } from "../accounts/account-quota.ts";
import { claimText, textHash } from "../accounts/recent-text.ts";
import { callOf, legKeyOf, publishingCall } from "../leg.ts";
import { nextPollSeconds } from "../leg-times.ts";
import { legDraft } from "../post.ts";
import {
  accountOfWork,
  type CallWork,
  failed,
  goOn,
  ownFailure,
  endRefused,
  type Step,
  toPublish,
  tryLater,
  waitFor,
  withCallOf,
  withRemote,
} from "./call-work.ts";
import { withoutGuesses, withWarnings } from "./leg-attempt.ts";

/** Media that is still processing after this long will not become ready. */
const PROCESSING_MS_MAX = 60 * 60 * 1000;

/** How soon a leg checks again whether another one with the same text was published. */
const DUPLICATE_SECONDS = 5;

/** Claims the account's text for a leg before anything is sent. May be repeated. */
export async function claimOwnText(work: CallWork): Promise<Step> {
  const { deps, ref, post } = work.run;
  const { network } = work.leg;
  const legKey = legKeyOf(work.leg);
  const hash = textHash(legDraft(post.draft, network).text);
  if (hash === undefined) return goOn(work);
  const account = accountOf(accountOfWork(work).connection);
  const { kind } = await claimText(deps, account, hash, { ref, legKey });
  const failure = { ...ownFailure("duplicate_content"), rule: `${network}.text.duplicate` };
  if (kind === "pending") return tryLater(work, { failure, retryAfterSeconds: DUPLICATE_SECONDS });
  return kind === "published" ? failed(work, failure) : goOn(work);
}

/**
 * Claims the quota that the draft counts towards. `remote` is the prepared draft, which may count towards another one.
 * A leg claims a quota once, and returns one that it no longer counts towards.
 */
async function claimQuota(work: CallWork, remote?: NetworkData): Promise<LegFailure | undefined> {
  const { deps, post } = work.run;
  const { network } = work.leg;
  const { connection } = accountOfWork(work);
  const { limits } = connection;
  const quota = quotaFor(deps, post.draft, network, { limits, ...(remote && { remote }) });
  if (remote !== undefined) await returnUnusedQuota(work, remote);
  if (quota === undefined) return undefined;
  const now = deps.clock.now();
  const { networkAccounts } = deps.stores;
  const account = accountOf(connection);
  const isClaimed = await networkAccounts.claimQuota(account, quota, legKeyOf(work.leg), now);
  const rule = `${network}.quota.${quota.kind}`;
  return isClaimed ? undefined : { ...ownFailure("quota_exceeded"), rule };
}

export async function claimFirstQuota(work: CallWork): Promise<Step> {
  const failure = await claimQuota(work);
  return failure === undefined ? goOn(work) : failed(work, failure);
}

/** Gives back the quota that the leg took but doesn't count towards, now that `remote` was made from it. */
export async function returnUnusedQuota(work: CallWork, remote: NetworkData): Promise<void> {
  const { deps, post } = work.run;
  const { network, account } = work.leg;
  const { remote: known } = publishingCall(work.leg);
  const kindOf = (made: NetworkData) => quotaFor(deps, post.draft, network, { remote: made })?.kind;
  const before = kindOf(known ?? {});
  if (before === undefined || account === null || before === kindOf(remote)) return;
  await deps.stores.networkAccounts.returnQuota(
    { network, accountId: account.id },
    before,
    legKeyOf(work.leg),
  );
}

/** What preparing a leg learned about its files, and changed in them. */
interface PrepareNotes {
  readonly repairs: { readonly repair: MediaRepair; readonly url: string | undefined }[];
  readonly files: Map<string, MediaFacts>;
}

/** Returns tools that note every change to an image, because readers won't see the original file. */
function noting(tools: NetworkTools, { repairs: noted, files }: PrepareNotes): NetworkTools {
  return {
    ...tools,
    async openMedia(url, limits) {
      const file = await tools.openMedia(url, limits);
      files.set(url, file);
      return file;
    },
    async fitImage(file, target) {
      const fitted = await tools.fitImage(file, target);
      const [url] = [...files].find(([, opened]) => opened === file) ?? [];
      noted.push(...fitted.repairs.map((repair) => ({ repair, url })));
      return fitted;
    },
  };
}

/** Uploads media and creates containers. */
export async function prepareFiles(given: CallWork): Promise<Step> {
  const { run, network } = given;
  const noted: PrepareNotes = { repairs: [], files: new Map() };
  let before = given;
  const tools: NetworkTools = {
    ...noting(run.tools, noted),
    async keepRemote(remote) {
      const kept = withRemote(before, remote);
      // What no row can hold ends the step when it is returned.
      if (kept === undefined) return true;
      // What ended the workers before did not stop this one.
      before = withCallOf(kept, (call) => ({ ...call, crashes: 0 }));
      return await run.claim.save(before.leg);
    },
  };
  const { repairs } = noted;
  const outcome = await run.claim.renewing(() =>
    network.calls.publish.prepare(toPublish(given), tools),
  );
  // The account's limit of alternative texts may have changed since accepting.
  const { limits } = accountOfWork(before).connection;
  const draft = legDraft(run.post.draft, before.leg.network);
  const seen = draft.media.map(({ url }) => noted.files.get(url) ?? null);
  const checked = [
    ...network.check(draft, limits),
    ...(network.checkFiles?.(draft, limits, seen) ?? []),
  ];
  const told = outcome.kind === "ready" ? (outcome.warnings ?? []) : [];
  const { rules = {} } = network;
  const fieldIn = (rule: string) => ({ field: fieldOfRule(rules, rule, draft) });
  /** Says of a file where the request names it, as a validation does. */
  const placeOf = (url: string | undefined): Pick<Problem, "field" | "mediaIndex"> => {
    const mediaIndex = draft.media.findIndex((item) => item.url === url);
    if (mediaIndex >= 0) return { field: fieldOf(network.name, draft, "mediaUrls"), mediaIndex };
    const picture = picturesOf(network, draft, limits).find((one) => one.url === url);
    return { field: picture?.field ?? null, mediaIndex: null };
  };
  const found = [
    ...checked.filter(({ code }) => code === "alt_text_shortened"),
    ...repairs.map(({ repair, url }) => repairWarning(network.name, repair, placeOf(url))),
    ...told.map(
      (rule) => checked.find((one) => one.rule === rule) ?? breach(rules, rule, fieldIn(rule)),
    ),
  ];
  const leg = outcome.kind === "try_later" ? before.leg : withoutGuesses(before.leg);
  const work = { ...before, leg: withWarnings(leg, found) };
  if (outcome.kind === "rejected") return endRefused(work, outcome.failure);
  const { remote } = outcome;
  const prepared = remote === undefined ? work : withRemote(work, remote);
  if (outcome.kind === "try_later") return tryLater(prepared ?? work, outcome);
  if (prepared === undefined) return tryLater(work, { failure: TOO_LARGE });
  if (outcome.kind === "processing") {
    const { pollAfterSeconds, isPoll = false } = outcome;
    const now = run.deps.clock.now().getTime();
    const { lastAttemptAt } = callOf(prepared.leg);
    const attemptMs = lastAttemptAt === null ? 0 : now - Date.parse(lastAttemptAt);
    if (attemptMs > PROCESSING_MS_MAX) return failed(prepared, ownFailure("media_not_ready"));
    const seconds = isPoll ? nextPollSeconds(pollAfterSeconds, attemptMs) : pollAfterSeconds;
    return waitFor(prepared, { kind: "wait", waitsFor: "pause", seconds });
  }
  const form = outcome.remote["form"] ?? null;
  const { log } = run.deps;
  log.info("leg prepared", { network: network.name, form, repairs: repairs.length });
  // The prepared draft may count towards another quota than the original one, such as a video that is no reel.
  const failure = await claimQuota(work, remote);
  return failure === undefined ? goOn(prepared) : failed(prepared, failure);
}
