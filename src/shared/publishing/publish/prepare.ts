import type { Connection } from "../../connections/connections.ts";
import { repairWarning } from "../../networks/contract/media-check.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { MediaFacts, MediaRepair } from "../../networks/contract/media.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";
import { accountOf, quotaFor } from "../accounts/account-quota.ts";
import { claimText, textHash } from "../accounts/recent-text.ts";
import type { Leg } from "../leg.ts";
import { nextPollSeconds } from "../leg-times.ts";
import { postponed } from "./leg-attempt.ts";
import { legDraft } from "../post.ts";
import { toLegWarnings } from "../problems.ts";
import { fail, reject, tryLater } from "./settle.ts";
import { renewingLease, saveAndHint, type LegRun } from "./leg-run.ts";

/** Media that is still processing after this long will not become ready. */
const PROCESSING_MS_MAX = 60 * 60 * 1000;

/** How soon a leg checks again whether another one with the same text was published. */
const DUPLICATE_SECONDS = 5;

/**
 * Claims the account's text and quota for a leg before anything is sent. May be repeated. Returns false when the leg
 * ended, or waits for another one with the same text.
 */
export async function claimTextAndQuota(run: LegRun, connection: Connection): Promise<boolean> {
  const { services, ref, post, stored } = run;
  const { network, key } = stored.leg;
  const account = accountOf(connection);
  const hash = textHash(legDraft(post.draft, network).text);
  if (hash !== undefined) {
    const state = await claimText(services, account, hash, { ref, legKey: key });
    const failure = { code: "duplicate_content", networkCode: null } as const;
    if (state.kind === "pending")
      await tryLater(run, { kind: "try_later", failure, retryAfterSeconds: DUPLICATE_SECONDS });
    if (state.kind === "published") await fail(run, failure);
    if (state.kind !== "free") return false;
  }
  return claimQuota(run, connection);
}

/**
 * Claims the quota that the draft counts towards; `remote` is the prepared draft, which may count towards another one. A
 * leg claims a quota once, and returns one that it no longer counts towards. False when the quota is used up and the leg
 * has ended.
 */
export async function claimQuota(
  run: LegRun,
  connection: Connection,
  remote?: NetworkData,
): Promise<boolean> {
  const { services, post, stored } = run;
  const { network, key } = stored.leg;
  const { limits } = connection;
  const account = accountOf(connection);
  const quota = quotaFor(services, post.draft, network, { limits, ...(remote && { remote }) });
  if (remote !== undefined) await returnUnusedQuota(run, remote);
  if (quota === undefined) return true;
  const now = services.clock.now();
  if (await services.stores.networkAccounts.claimQuota(account, quota, key, now)) return true;
  await fail(run, { code: "quota_exceeded", networkCode: null });
  return false;
}

/** Gives back what the leg took and does not count towards any more, now that `remote` is made of it. */
export async function returnUnusedQuota(run: LegRun, remote: NetworkData): Promise<void> {
  const { services, post, stored } = run;
  const { network, account, key } = stored.leg;
  const kindOf = (made: NetworkData) =>
    quotaFor(services, post.draft, network, { remote: made })?.kind;
  const before = kindOf(stored.leg.remote ?? {});
  if (before === undefined || account === null || before === kindOf(remote)) return;
  await services.stores.networkAccounts.returnQuota(
    { network, accountId: account.id },
    before,
    key,
  );
}

/** What preparing a leg saw of its files, and did to them. */
interface Noted {
  readonly repairs: MediaRepair[];
  readonly files: Map<string, MediaFacts>;
}

/** Returns the tools with every change to an image noted, since readers will not see the file that was given. */
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

/** Returns the leg with warnings of what preparing it changes, each code once however often the leg is prepared. */
function withWarnings(leg: Leg, found: readonly Problem[]): Leg {
  const known = new Set(leg.warnings.map(({ code }) => code));
  const added = toLegWarnings(found).filter(({ code }) => !known.has(code) && known.add(code));
  return added.length === 0 ? leg : { ...leg, warnings: [...leg.warnings, ...added] };
}

function repairWarnings(name: string, repairs: readonly MediaRepair[]): readonly Problem[] {
  return repairs.map((repair) => repairWarning(name, repair, { field: null, mediaIndex: null }));
}

/** Returns a warning for each alternative text that was cut: the account's limit may not be what it was on accepting. */
function cutWarnings(
  { post, stored }: LegRun,
  network: Network,
  { limits }: Connection,
  { files }: Noted,
): readonly Problem[] {
  const draft = legDraft(post.draft, stored.leg.network);
  const seen = draft.media.map(({ url }) => files.get(url) ?? null);
  return [
    ...network.check(draft, limits),
    ...(network.checkFiles?.(draft, limits, seen) ?? []),
  ].filter(({ code }) => code === "alt_text_shortened");
}

/** Uploads media and makes containers. Returns the prepared leg, or undefined when it ended or waits. */
export async function prepare(
  run: LegRun,
  network: Network,
  connection: Connection,
  leg: LegToPublish,
): Promise<LegToPublish | undefined> {
  const noted: Noted = { repairs: [], files: new Map() };
  const tools = noting(run.tools, noted);
  const { repairs } = noted;
  const outcome = await renewingLease(run, () => network.prepare(leg, tools));
  // Written with the leg's next state.
  const found = [
    ...cutWarnings(run, network, connection, noted),
    ...repairWarnings(network.name, repairs),
  ];
  run.stored = { ...run.stored, leg: withWarnings(run.stored.leg, found) };
  const now = run.services.clock.now();
  switch (outcome.kind) {
    case "ready":
      run.services.log.info("leg prepared", {
        network: network.name,
        form: outcome.remote["form"] ?? null,
        repairs: repairs.length,
      });
      return { ...leg, remote: outcome.remote };
    case "processing": {
      const since = Date.parse(run.stored.leg.lastAttemptAt ?? now.toISOString());
      const attemptMs = now.getTime() - since;
      const { remote, pollAfterSeconds, isPoll = false } = outcome;
      const seconds = isPoll ? nextPollSeconds(pollAfterSeconds, attemptMs) : pollAfterSeconds;
      if (attemptMs > PROCESSING_MS_MAX)
        await fail(run, { code: "media_not_ready", networkCode: null });
      else await saveAndHint(run, postponed(run.stored.leg, remote, now, seconds));
      return undefined;
    }
    case "try_later":
      await tryLater(run, outcome, outcome.remote);
      return undefined;
    case "rejected":
      await reject(run, connection, outcome);
      return undefined;
  }
}
