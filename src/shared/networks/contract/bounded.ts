import type { NetworkData } from "./draft.ts";
import { linkFailed, type Account, type LinkChoice, type LinkedAccount } from "./link.ts";
import type { LinkFailure, LinkOutcome, LinkRestart, OAuthRedirect } from "./link.ts";
import { withoutMarks } from "./text.ts";
import type { TryLater } from "./outcome.ts";

/*
 * Every answer of a network is stored, logged and shown, and a server of a federated network may answer anything. So
 * everything that the steps of a network return is limited here: texts are cut, and values that mean nothing after a
 * cut are refused.
 */

const NAME_CHARACTERS_MAX = 200;
const URL_CHARACTERS_MAX = 2_048;
const ID_CHARACTERS_MAX = 500;
const NOTE_CHARACTERS_MAX = 500;
/** Maximum length of the `state` in a callback. */
const STATE_CHARACTERS_MAX = 200;
const SCOPES_MAX = 100;
const CANDIDATES_MAX = 500;
const WAIT_SECONDS_MAX = 24 * 60 * 60;
/** Maximum length of a network's data about a leg or an account, which is small. No working server sends more. */
const DATA_CHARACTERS_MAX = 100_000;

const cut = (text: string, charactersMax: number) => text.slice(0, charactersMax).toWellFormed();
/** Limits a name, which people see on our pages and on those of customers. */
const name = (text: string) => withoutMarks(cut(text, NAME_CHARACTERS_MAX));
const isId = (id: string) => id !== "" && id.length <= ID_CHARACTERS_MAX;

/** Reports whether data of a network are small enough to be stored. */
export function isStorable(data: NetworkData): boolean {
  return JSON.stringify(data).length <= DATA_CHARACTERS_MAX;
}

/** Returns the text if it is a web address. Pages show it as a link, and a server of a federated network chose it. */
function webAddress(text: string | null, protocols: readonly string[]): string | null {
  if (text === null || text.length > URL_CHARACTERS_MAX || !URL.canParse(text)) return null;
  return protocols.includes(new URL(text).protocol) ? text : null;
}

/**
 * Returns an account as a server described it, limited for storage and safe to show. Undefined when it is too large.
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

/** Returns the wait in seconds, at most a day. */
function boundedWait(seconds: number): number {
  return Math.min(Math.max(seconds || 0, 0), WAIT_SECONDS_MAX);
}

const words = (charactersMax: number) => (text: string | null) => text && cut(text, charactersMax);

/** How the fields of an outcome and its failure are limited. Other fields stay unchanged. */
const BOUNDS: Readonly<Record<string, (value: never) => unknown>> = {
  failure: boundedFields,
  networkCode: words(NAME_CHARACTERS_MAX),
  rule: words(NAME_CHARACTERS_MAX),
  message: words(NOTE_CHARACTERS_MAX),
  remediation: words(NOTE_CHARACTERS_MAX),
  note: words(NOTE_CHARACTERS_MAX),
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
  // Safe: a field's limit returns a value of the field.
  return Object.fromEntries(fields) as Of;
}

/** The result of a step that published nothing and whose answer can't be stored. */
const tooLarge: TryLater = {
  kind: "try_later",
  failure: { code: "network_unavailable", networkCode: "answer_too_large" },
};

/** The fields of an outcome that are stored. */
const DATA: readonly string[] = ["remote", "state", "credentials", "limits"];
/** Outcomes that mean the same without these fields. */
const SPARES_DATA: readonly unknown[] = ["try_later", "in_doubt"];

/** Returns an outcome without data that is too large, or `tooLarge` when it means nothing without. */
function boundedOutcome(outcome: Readonly<Record<string, unknown>>): object {
  const isKept = ([name, value]: readonly [string, unknown]) =>
    // Safe: these fields have data.
    !DATA.includes(name) || (value !== undefined && isStorable(value as NetworkData));
  const kept = Object.entries(outcome).filter(isKept);
  const isWhole = kept.length === Object.keys(outcome).length;
  if (!isWhole && !SPARES_DATA.includes(outcome["kind"])) return tooLarge;
  return boundedFields(Object.fromEntries(kept));
}

const refused = () => linkFailed("instance_unsupported", "the answer is too large");

function boundedLinked(linked: LinkedAccount): LinkOutcome {
  const { scopes, limits, credentials, expiresAt, instanceUrl, grantId } = linked;
  const account = boundedAccount(linked.account);
  if (account === undefined || !isStorable(limits) || !isStorable(credentials)) return refused();
  if ((instanceUrl?.length ?? 0) > URL_CHARACTERS_MAX) return refused();
  if (grantId !== undefined && !isId(grantId)) return refused();
  const listed = scopes.slice(0, SCOPES_MAX).map((scope) => cut(scope, NAME_CHARACTERS_MAX));
  const fitting = { ...linked, account, scopes: listed, expiresAt: boundedTime(expiresAt) };
  return { kind: "linked", linked: fitting };
}

function boundedChoice({ kind, candidates, isCut, flow }: LinkChoice): LinkChoice | LinkFailure {
  if (!isStorable(flow)) return refused();
  const known = candidates.filter(({ id }) => isId(id));
  const shown = known
    .slice(0, CANDIDATES_MAX)
    .map(({ id, label, hint }) => ({ id, label: name(label), hint: name(hint) }));
  const isLonger = isCut === true || shown.length < known.length;
  return { kind, candidates: shown, ...(isLonger && { isCut: true }), flow };
}

function boundedLink(outcome: LinkOutcome | LinkChoice | LinkRestart | OAuthRedirect): object {
  switch (outcome.kind) {
    case "linked":
      return boundedLinked(outcome.linked);
    case "choose":
      return boundedChoice(outcome);
    case "redirect": {
      const { url, state = "", flow } = outcome;
      const isShort = url.length <= 4 * URL_CHARACTERS_MAX && state.length <= STATE_CHARACTERS_MAX;
      return isShort && isStorable(flow) ? outcome : refused();
    }
    case "failed":
      return boundedFields(outcome);
    case "restart":
      return outcome;
  }
}

/** The steps of a network and of its parts, by their names; the first ones link accounts. */
const LINK_STEPS: ReadonlySet<string> = new Set(["start", "finish", "choose", "signIn"]);
const STEPS: ReadonlySet<string> = new Set(
  "freshen prepare perform lookUp probe readLimits".split(" "),
);
/** The parts of a network that have steps of their own. */
const PARTS: ReadonlySet<string> = new Set(
  "link alternative calls publish comment remove accountCheck".split(" "),
);

/** Returns a network, or a part of one, with everything bounded that its steps hand over. */
export function bounded<Of extends object>(of: Of): Of {
  const fields = Object.entries(of as Readonly<Record<string, unknown>>).map(([name, value]) => {
    const isLink = LINK_STEPS.has(name);
    if (typeof value === "object" && value !== null && PARTS.has(name))
      return [name, bounded(value)] as const;
    if (typeof value !== "function" || !(isLink || STEPS.has(name))) return [name, value] as const;
    const bound: (outcome: never) => object = isLink ? boundedLink : boundedOutcome;
    const step = async (...given: readonly unknown[]) =>
      bound((await value.apply(of, given)) as never);
    return [name, step] as const;
  });
  // Safe: a step returns a promise of an outcome, and a bounded one is one that it may have.
  return Object.fromEntries(fields) as Of;
}
