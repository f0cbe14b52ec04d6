import { repairWarning } from "../../networks/contract/media-check.ts";
import { breach, type Problem } from "../../networks/contract/rules.ts";
import type { PrepareOutcome } from "../../networks/contract/outcome.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { MediaFacts, MediaRepair } from "../../networks/contract/media.ts";
import type { Network } from "../../networks/contract/network.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";
import { accountOf, quotaFor } from "../accounts/account-quota.ts";
import { claimText, textHash } from "../accounts/recent-text.ts";
import { callOf } from "../leg.ts";
import { nextPollSeconds } from "../leg-times.ts";
import { legDraft } from "../post.ts";
import {
  type CallWork,
  refused,
  toPublish,
  tryLater,
  failed,
  GO_ON,
  plain,
  type Step,
} from "./call-work.ts";
import { withWarnings } from "./leg-attempt.ts";
import type { LegRun } from "./leg-run.ts";

/** Media that is still processing after this long will not become ready. */
const PROCESSING_MS_MAX = 60 * 60 * 1000;

/** How soon a leg checks again whether another one with the same text was published. */
const DUPLICATE_SECONDS = 5;

/** Claims the account's text for a leg before anything is sent. May be repeated. */
export async function claimOwnText({ run }: CallWork): Promise<Step> {
  const { services, ref, post, hand } = run;
  const { network } = hand.leg;
  const [{ key: legKey }] = hand.leg.calls;
  const hash = textHash(legDraft(post.draft, network).text);
  if (hash === undefined) return GO_ON;
  const account = accountOf(run.hand.attached.connection);
  const { kind } = await claimText(services, account, hash, { ref, legKey });
  const failure = plain("duplicate_content");
  if (kind === "pending")
    return { kind: "wait", waitsFor: "attempt", failure, seconds: DUPLICATE_SECONDS };
  return kind === "published" ? failed(failure) : GO_ON;
}

/**
 * Claims the quota that the draft counts towards. `remote` is the prepared draft, which may count towards another one.
 * A leg claims a quota once, and returns one that it no longer counts towards.
 */
async function claimQuota(run: LegRun, remote?: NetworkData): Promise<Step> {
  const { services, post, hand } = run;
  const { network } = hand.leg;
  const [{ key }] = hand.leg.calls;
  const { connection } = run.hand.attached;
  const { limits } = connection;
  const quota = quotaFor(services, post.draft, network, { limits, ...(remote && { remote }) });
  if (remote !== undefined) await returnUnusedQuota(run, remote);
  if (quota === undefined) return GO_ON;
  const now = services.clock.now();
  const { networkAccounts } = services.stores;
  const isClaimed = await networkAccounts.claimQuota(accountOf(connection), quota, key, now);
  return isClaimed ? GO_ON : failed(plain("quota_exceeded"));
}

export const claimFirstQuota = ({ run }: CallWork): Promise<Step> => claimQuota(run);

/** Gives back the quota that the leg took but doesn't count towards, now that `remote` was made from it. */
export async function returnUnusedQuota(run: LegRun, remote: NetworkData): Promise<void> {
  const { services, post, hand } = run;
  const { network, account } = hand.leg;
  const [{ key, remote: known }] = hand.leg.calls;
  const kindOf = (made: NetworkData) =>
    quotaFor(services, post.draft, network, { remote: made })?.kind;
  const before = kindOf(known ?? {});
  if (before === undefined || account === null || before === kindOf(remote)) return;
  await services.stores.networkAccounts.returnQuota(
    { network, accountId: account.id },
    before,
    key,
  );
}

/** What preparing a leg learned about its files, and changed in them. */
interface Noted {
  readonly repairs: MediaRepair[];
  readonly files: Map<string, MediaFacts>;
}

/** Returns tools that note every change to an image, because readers won't see the original file. */
function noting(tools: NetworkTools, { repairs: noted, files }: Noted): NetworkTools {
  return {
    ...tools,
    async openMedia(url, limits) {
      const file = await tools.openMedia(url, limits);
      files.set(url, file);
      return file;
    },
    async fitImage(file, target) {
      const fitted = await tools.fitImage(file, target);
      noted.push(...fitted.repairs);
      return fitted;
    },
  };
}

function repairWarnings(name: string, repairs: readonly MediaRepair[]): readonly Problem[] {
  return repairs.map((repair) => repairWarning(name, repair, { field: null, mediaIndex: null }));
}

/** Returns the warnings of a leg's network about what only preparing showed. */
function toldWarnings({ rules = {} }: Network, outcome: PrepareOutcome): readonly Problem[] {
  const told = outcome.kind === "ready" ? (outcome.warnings ?? []) : [];
  return told.map((rule) => breach(rules, rule));
}

/** Returns a warning for each alternative text that was cut: the account's limit may have changed since accepting. */
function cutWarnings(run: LegRun, network: Network, { files }: Noted): readonly Problem[] {
  const { limits } = run.hand.attached.connection;
  const draft = legDraft(run.post.draft, run.hand.leg.network);
  const seen = draft.media.map(({ url }) => files.get(url) ?? null);
  return [
    ...network.check(draft, limits),
    ...(network.checkFiles?.(draft, limits, seen) ?? []),
  ].filter(({ code }) => code === "alt_text_shortened");
}

/** Uploads media and creates containers. */
export async function prepareFiles(work: CallWork): Promise<Step> {
  const { run, network } = work;
  const noted: Noted = { repairs: [], files: new Map() };
  const tools = noting(run.tools, noted);
  const { repairs } = noted;
  const outcome = await run.hand.renewing(() =>
    network.calls.publish.prepare(toPublish(work), tools),
  );
  // Written with the leg's next state.
  const found = [
    ...cutWarnings(run, network, noted),
    ...repairWarnings(network.name, repairs),
    ...toldWarnings(network, outcome),
  ];
  run.hand.noteLeg((leg) => withWarnings(leg, found));
  switch (outcome.kind) {
    case "ready": {
      const form = outcome.remote["form"] ?? null;
      const { log } = run.services;
      log.info("leg prepared", { network: network.name, form, repairs: repairs.length });
      // The prepared draft may count towards another quota than the original one, such as a video that is no reel.
      const step = await claimQuota(run, outcome.remote);
      run.hand.note((call) => ({ ...call, remote: outcome.remote }));
      return step;
    }
    case "processing":
      run.hand.note((call) => ({ ...call, remote: outcome.remote }));
      return processing(run, outcome);
    case "try_later":
      run.hand.note((call) => ({ ...call, remote: outcome.remote ?? call.remote }));
      return tryLater(outcome);
    case "rejected":
      return refused(work, outcome.failure);
  }
}

/** Waits for the network's work on the files, for an hour at most. */
function processing(
  { services, hand: { leg } }: LegRun,
  { pollAfterSeconds, isPoll = false }: { pollAfterSeconds: number; isPoll?: boolean },
): Step {
  const now = services.clock.now().getTime();
  const { lastAttemptAt } = callOf(leg);
  const attemptMs = lastAttemptAt === null ? 0 : now - Date.parse(lastAttemptAt);
  if (attemptMs > PROCESSING_MS_MAX) return failed(plain("media_not_ready"));
  const seconds = isPoll ? nextPollSeconds(pollAfterSeconds, attemptMs) : pollAfterSeconds;
  return { kind: "wait", waitsFor: "pause", seconds };
}
