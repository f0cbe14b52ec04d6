import type { NetworkData } from "./draft.ts";
import { linkFailed, type Account, type LinkCandidate, type LinkChoice } from "./link.ts";
import type { LinkedAccount, LinkFailure, LinkFlow, LinkForm, LinkOutcome } from "./link.ts";
import type { OAuthFlow, OAuthRedirect } from "./link.ts";
import type { AccountCheck, FollowUpCall, FollowUpCalls, Network } from "./network.ts";
import { withoutMarks } from "./text.ts";
import type { CredentialsOutcome, LegFailure, LimitsOutcome, PrepareOutcome } from "./outcome.ts";
import type { Published, PublishOutcome, ReconcileOutcome, TryLater } from "./outcome.ts";
import type { FollowUpDone, FollowUpLookUp, FollowUpOutcome } from "./outcome.ts";

/*
 * Every answer of a network is stored, logged and shown, and a server of a federated network answers what it likes. So
 * everything that the steps of a network hand over is bounded here, once for all of them: words are cut, and what has
 * no meaning once it is cut is refused.
 */

const NAME_CHARACTERS_MAX = 200;
const URL_CHARACTERS_MAX = 2_048;
const ID_CHARACTERS_MAX = 500;
const NOTE_CHARACTERS_MAX = 500;
/** Longest `state` that a callback may bring back. */
const STATE_CHARACTERS_MAX = 200;
const SCOPES_MAX = 100;
const CANDIDATES_MAX = 500;
const WAIT_SECONDS_MAX = 24 * 60 * 60;
/** The limit for what a network keeps of a leg or an account, which is small. No server that works sends more. */
const DATA_CHARACTERS_MAX = 100_000;

const cut = (text: string, charactersMax: number) => text.slice(0, charactersMax).toWellFormed();
/** Bounds a name, which people see on our pages and on those of customers. */
const name = (text: string) => withoutMarks(cut(text, NAME_CHARACTERS_MAX));
const isId = (id: string) => id !== "" && id.length <= ID_CHARACTERS_MAX;

/** Returns whether data of a network are small enough to be stored. */
export function isStorable(data: NetworkData): boolean {
  return JSON.stringify(data).length <= DATA_CHARACTERS_MAX;
}

/** Returns the text if it is a web address: pages show it as a link, and a server of a federated network chose it. */
function webAddress(text: string | null, protocols: readonly string[]): string | null {
  if (text === null || text.length > URL_CHARACTERS_MAX || !URL.canParse(text)) return null;
  return protocols.includes(new URL(text).protocol) ? text : null;
}

/**
 * Returns an account as a server described it, bounded for storage and safe to show; undefined when it is too large.
 */
export function boundedAccount(account: Account): Account | undefined {
  if (!isId(account.id)) return undefined;
  return {
    id: account.id,
    username: name(account.username),
    displayName: name(account.displayName),
    avatarUrl: webAddress(account.avatarUrl, ["https:"]),
    url: webAddress(account.url, ["https:", "http:"]) ?? "",
    kind: cut(account.kind, NAME_CHARACTERS_MAX),
  };
}

function boundedTime(time: string | null): string | null {
  if (time === null || time.length > NAME_CHARACTERS_MAX) return null;
  return Number.isNaN(Date.parse(time)) ? null : time;
}

/** Returns the wait in seconds, of a day at most. */
function boundedWait(seconds: number): number {
  return Math.min(Math.max(seconds || 0, 0), WAIT_SECONDS_MAX);
}

function boundedFailure(failure: LegFailure): LegFailure {
  const { networkCode, rule, message, remediation, note } = failure;
  return {
    ...failure,
    networkCode: networkCode && cut(networkCode, NAME_CHARACTERS_MAX),
    ...(rule !== undefined && { rule: cut(rule, NAME_CHARACTERS_MAX) }),
    ...(message !== undefined && { message: cut(message, NOTE_CHARACTERS_MAX) }),
    ...(remediation !== undefined && { remediation: cut(remediation, NOTE_CHARACTERS_MAX) }),
    ...(note !== undefined && { note: cut(note, NOTE_CHARACTERS_MAX) }),
  };
}

function boundedPost({ kind, networkPostId, url }: Published): Published {
  return {
    kind,
    networkPostId: cut(networkPostId, ID_CHARACTERS_MAX),
    url: webAddress(url, ["https:", "http:"]),
  };
}

/** The result of a step that published nothing and whose answer can't be kept. */
const tooLarge: TryLater = {
  kind: "try_later",
  failure: { code: "network_unavailable", networkCode: "answer_too_large" },
};

type Failing = Extract<
  | PrepareOutcome
  | PublishOutcome
  | ReconcileOutcome
  | FollowUpOutcome
  | FollowUpLookUp
  | CredentialsOutcome
  | LimitsOutcome,
  { readonly failure: LegFailure }
>;

function boundedFailing<Of extends Failing>(outcome: Of): Of {
  const { retryAfterSeconds, pollAfterSeconds } = outcome as {
    readonly retryAfterSeconds?: number;
    readonly pollAfterSeconds?: number;
  };
  return {
    ...outcome,
    failure: boundedFailure(outcome.failure),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds: boundedWait(retryAfterSeconds) }),
    ...(pollAfterSeconds !== undefined && { pollAfterSeconds: boundedWait(pollAfterSeconds) }),
  };
}

function boundedPrepared(outcome: PrepareOutcome): PrepareOutcome {
  switch (outcome.kind) {
    case "ready":
      return isStorable(outcome.remote) ? outcome : tooLarge;
    case "processing": {
      const pollAfterSeconds = boundedWait(outcome.pollAfterSeconds);
      return isStorable(outcome.remote) ? { ...outcome, pollAfterSeconds } : tooLarge;
    }
    case "try_later": {
      const { remote, ...later } = boundedFailing(outcome);
      return remote !== undefined && isStorable(remote) ? { ...later, remote } : later;
    }
    case "rejected":
      return boundedFailing(outcome);
  }
}

function boundedOutcome(outcome: PublishOutcome): PublishOutcome {
  switch (outcome.kind) {
    case "published":
      return boundedPost(outcome);
    case "prepare_again":
      return isStorable(outcome.remote) ? boundedFailing(outcome) : tooLarge;
    case "in_doubt": {
      const { remote, ...doubt } = boundedFailing(outcome);
      return remote !== undefined && isStorable(remote) ? { ...doubt, remote } : doubt;
    }
    case "try_later":
    case "rejected":
      return boundedFailing(outcome);
  }
}

function boundedLookup(outcome: ReconcileOutcome): ReconcileOutcome {
  if (outcome.kind === "published") return boundedPost(outcome);
  if (outcome.kind !== "may_publish") return boundedFailing(outcome);
  const { failure } = outcome;
  return failure === undefined ? outcome : { ...outcome, failure: boundedFailure(failure) };
}

function boundedDone({ kind, externalId, url }: FollowUpDone): FollowUpDone {
  return {
    kind,
    externalId: externalId && cut(externalId, ID_CHARACTERS_MAX),
    url: webAddress(url, ["https:", "http:"]),
  };
}

function boundedFollowUp(outcome: FollowUpOutcome): FollowUpOutcome {
  if (outcome.kind === "done") return boundedDone(outcome);
  if (outcome.kind !== "in_doubt") return boundedFailing(outcome);
  const { state, ...doubt } = boundedFailing(outcome);
  return state !== undefined && isStorable(state) ? { ...doubt, state } : doubt;
}

function boundedFollowUpLookUp(outcome: FollowUpLookUp): FollowUpLookUp {
  if (outcome.kind === "done") return boundedDone(outcome);
  if (outcome.kind !== "may_perform") return boundedFailing(outcome);
  const { failure } = outcome;
  return failure === undefined ? outcome : { ...outcome, failure: boundedFailure(failure) };
}

function boundedCall(call: FollowUpCall): FollowUpCall {
  return {
    ...call,
    perform: async (...given) => boundedFollowUp(await call.perform(...given)),
    lookUp: async (...given) => boundedFollowUpLookUp(await call.lookUp(...given)),
  };
}

function boundedCalls({ comment, remove }: FollowUpCalls): FollowUpCalls {
  return {
    ...(comment && { comment: boundedCall(comment) }),
    ...(remove && { remove: boundedCall(remove) }),
  };
}

function boundedCredentials(outcome: CredentialsOutcome): CredentialsOutcome {
  if (outcome.kind === "usable") return outcome;
  if (outcome.kind !== "refreshed") return boundedFailing(outcome);
  if (!isStorable(outcome.credentials)) return tooLarge;
  return { ...outcome, expiresAt: boundedTime(outcome.expiresAt) };
}

function boundedLimits(outcome: LimitsOutcome): LimitsOutcome {
  if (outcome.kind !== "read") return boundedFailing(outcome);
  return isStorable(outcome.limits) ? outcome : tooLarge;
}

const refused = () => linkFailed("instance_unsupported", "the answer is too large");

function boundedLinked(linked: LinkedAccount): LinkedAccount | undefined {
  const { scopes, limits, credentials, expiresAt, instanceUrl, grantId } = linked;
  const account = boundedAccount(linked.account);
  if (account === undefined || !isStorable(limits) || !isStorable(credentials)) return undefined;
  if ((instanceUrl?.length ?? 0) > URL_CHARACTERS_MAX) return undefined;
  if (grantId !== undefined && !isId(grantId)) return undefined;
  return {
    ...linked,
    account,
    scopes: scopes.slice(0, SCOPES_MAX).map((scope) => cut(scope, NAME_CHARACTERS_MAX)),
    expiresAt: boundedTime(expiresAt),
  };
}

function boundedLinkFailure({ note, ...failure }: LinkFailure): LinkFailure {
  return note === undefined ? failure : { ...failure, note: cut(note, NOTE_CHARACTERS_MAX) };
}

function boundedLink(outcome: LinkOutcome): LinkOutcome {
  if (outcome.kind === "failed") return boundedLinkFailure(outcome);
  const linked = boundedLinked(outcome.linked);
  return linked === undefined ? refused() : { kind: "linked", linked };
}

function boundedChoice({ kind, candidates, isCut, flow }: LinkChoice): LinkChoice | LinkFailure {
  if (!isStorable(flow)) return refused();
  const named = ({ id, label, hint }: LinkCandidate) => ({
    id,
    label: name(label),
    hint: name(hint),
  });
  const known = candidates.filter(({ id }) => isId(id));
  const shown = known.slice(0, CANDIDATES_MAX).map(named);
  const isLonger = isCut === true || shown.length < known.length;
  return { kind, candidates: shown, ...(isLonger && { isCut: true }), flow };
}

function boundedStart(outcome: OAuthRedirect | LinkFailure): OAuthRedirect | LinkFailure {
  if (outcome.kind === "failed") return boundedLinkFailure(outcome);
  const { url, state = "", flow } = outcome;
  const isTooLong = url.length > 4 * URL_CHARACTERS_MAX || state.length > STATE_CHARACTERS_MAX;
  return isTooLong || !isStorable(flow) ? refused() : outcome;
}

function boundedForm<Of extends LinkForm>(form: Of): Of {
  return {
    ...form,
    signIn: async (...given) => boundedLink(await form.signIn(...given)),
  };
}

function boundedOAuth(link: OAuthFlow): OAuthFlow {
  const { alternative } = link;
  const choose = link.choose?.bind(link);
  return {
    ...link,
    start: async (...given) => boundedStart(await link.start(...given)),
    async finish(...given) {
      const outcome = await link.finish(...given);
      if (outcome.kind === "restart") return outcome;
      return outcome.kind === "choose" ? boundedChoice(outcome) : boundedLink(outcome);
    },
    ...(choose && { choose: async (...given) => boundedLink(await choose(...given)) }),
    ...(alternative && { alternative: boundedForm(alternative) }),
  };
}

function boundedFlow(link: LinkFlow): LinkFlow {
  return link.kind === "form" ? boundedForm(link) : boundedOAuth(link);
}

function boundedCheck(check: AccountCheck): AccountCheck {
  const probe = check.probe?.bind(check);
  const readLimits = check.readLimits?.bind(check);
  return {
    ...check,
    ...(probe && {
      async probe(...given) {
        const outcome = await probe(...given);
        return outcome.kind === "usable" ? outcome : boundedFailing(outcome);
      },
    }),
    ...(readLimits && {
      readLimits: async (...given) => boundedLimits(await readLimits(...given)),
    }),
  };
}

/** Returns the network with everything bounded that its steps hand over. */
export function bounded<Of extends Network>(network: Of): Of {
  const { accountCheck } = network;
  return {
    ...network,
    link: boundedFlow(network.link),
    freshen: async (...given) => boundedCredentials(await network.freshen(...given)),
    prepare: async (...given) => boundedPrepared(await network.prepare(...given)),
    publish: async (...given) => boundedOutcome(await network.publish(...given)),
    reconcile: async (...given) => boundedLookup(await network.reconcile(...given)),
    calls: boundedCalls(network.calls),
    ...(accountCheck && { accountCheck: boundedCheck(accountCheck) }),
  };
}
