import type { NetworkData } from "./draft.ts";
import { linkFailed, type Account, type LinkCandidate, type LinkChoice } from "./link.ts";
import type { LinkedAccount, LinkFailure, LinkFlow, LinkForm, LinkOutcome } from "./link.ts";
import type { OAuthFlow, OAuthRedirect } from "./link.ts";
import type { Network } from "./network.ts";
import { withoutMarks } from "./text.ts";
import type { TryLater } from "./outcome.ts";

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

const words = (charactersMax: number) => (text: string | null) => text && cut(text, charactersMax);

/** How the fields of an outcome, and of its failure, are bounded; others are left as they are. */
const BOUNDS: Readonly<Record<string, (value: never) => unknown>> = {
  failure: boundedFields,
  networkCode: words(NAME_CHARACTERS_MAX),
  rule: words(NAME_CHARACTERS_MAX),
  message: words(NOTE_CHARACTERS_MAX),
  remediation: words(NOTE_CHARACTERS_MAX),
  note: words(NOTE_CHARACTERS_MAX),
  networkPostId: words(ID_CHARACTERS_MAX),
  externalId: words(ID_CHARACTERS_MAX),
  url: (url: string | null) => webAddress(url, ["https:", "http:"]),
  expiresAt: boundedTime,
  retryAfterSeconds: boundedWait,
  pollAfterSeconds: boundedWait,
};

function boundedFields<Of extends object>(of: Of): Of {
  const fields = Object.entries(of).map(([name, value]) => {
    const bound = value === undefined ? undefined : BOUNDS[name];
    return [name, bound === undefined ? value : bound(value as never)] as const;
  });
  // Safe: what bounds a field returns one of its values.
  return Object.fromEntries(fields) as Of;
}

/** The result of a step that published nothing and whose answer can't be kept. */
const tooLarge: TryLater = {
  kind: "try_later",
  failure: { code: "network_unavailable", networkCode: "answer_too_large" },
};

/** What an outcome has stored. */
const DATA: readonly string[] = ["remote", "state", "credentials", "limits"];
/** Outcomes that say as much without it. */
const SPARES_DATA: readonly unknown[] = ["try_later", "in_doubt"];

/** Returns an outcome without what is too large; `tooLarge` where it means nothing without. */
function boundedOutcome(outcome: Readonly<Record<string, unknown>>): object {
  const isKept = ([name, value]: readonly [string, unknown]) =>
    // Safe: these fields have data.
    !DATA.includes(name) || (value !== undefined && isStorable(value as NetworkData));
  const kept = Object.entries(outcome).filter(isKept);
  const isWhole = kept.length === Object.keys(outcome).length;
  if (!isWhole && !SPARES_DATA.includes(outcome["kind"])) return tooLarge;
  return boundedFields(Object.fromEntries(kept));
}

/** Returns these of the steps that there are, with their outcomes bounded. */
function boundedSteps<Of extends object>(
  of: Of,
  ...names: readonly (keyof Of & string)[]
): Partial<Of> {
  const steps = names.flatMap((name) => {
    const step = of[name];
    if (typeof step !== "function") return [];
    // Safe: every step returns the promise of an outcome.
    const run = async (...given: readonly unknown[]) =>
      boundedOutcome((await step.apply(of, given)) as Readonly<Record<string, unknown>>);
    return [[name, run] as const];
  });
  // Safe: a bounded outcome is one of those that the step may have.
  return Object.fromEntries(steps) as Partial<Of>;
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

function boundedLink(outcome: LinkOutcome): LinkOutcome {
  if (outcome.kind === "failed") return boundedFields(outcome);
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
  if (outcome.kind === "failed") return boundedFields(outcome);
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

/** Returns the network with everything bounded that its steps hand over. */
export function bounded<Of extends Network>(network: Of): Of {
  const { accountCheck, calls } = network;
  const { publish, comment, remove } = calls;
  return {
    ...network,
    link: boundedFlow(network.link),
    ...boundedSteps(network, "freshen"),
    calls: {
      publish: { ...publish, ...boundedSteps(publish, "prepare", "perform", "lookUp") },
      ...(comment && { comment: { ...comment, ...boundedSteps(comment, "perform", "lookUp") } }),
      ...(remove && { remove: { ...remove, ...boundedSteps(remove, "perform", "lookUp") } }),
    },
    ...(accountCheck && {
      accountCheck: { ...accountCheck, ...boundedSteps(accountCheck, "probe", "readLimits") },
    }),
  };
}
