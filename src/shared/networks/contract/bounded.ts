import type { NetworkData } from "./draft.ts";
import { linkFailed, type Account, type LinkChoice, type LinkedAccount } from "./link.ts";
import type { LinkFailure, LinkOutcome, OAuthRedirect } from "./link.ts";
import { isNetworkId, withoutMarks } from "./text.ts";
import type { SentenceValues } from "./errors.ts";
import type { CredentialsOutcome, Done, LegFailure } from "./outcome.ts";

/*
 * What a network answers is stored, logged and shown, and a server of a federated network may answer anything. So what
 * becomes part of a row passes through here: texts are cut, and values that mean nothing after a cut are refused. Rows of
 * legs and connections accept only `BoundedValue`s, which only this file makes.
 */

declare const isBounded: unique symbol;

/** What a network said, small enough to be stored and safe to show. */
export type BoundedValue<Of> = Of & { readonly [isBounded]: true };

const NAME_CHARACTERS_MAX = 200;
const URL_CHARACTERS_MAX = 2_048;
const NOTE_CHARACTERS_MAX = 500;
/** Maximum length of the `state` in a callback. */
const STATE_CHARACTERS_MAX = 200;
/** Maximum length of a text in a sentence, such as a server's unknown coding. */
const VALUE_CHARACTERS_MAX = 100;
const VALUES_MAX = 8;
const SCOPES_MAX = 100;
const CANDIDATES_MAX = 500;
const WAIT_SECONDS_MAX = 24 * 60 * 60;
/** Maximum length of a network's data about a leg or an account, which is small. No working server sends more. */
const DATA_CHARACTERS_MAX = 100_000;

const cut = (text: string, charactersMax: number) => text.slice(0, charactersMax).toWellFormed();
/** Limits a name, which people see on our pages and on those of customers. */
const name = (text: string) => withoutMarks(cut(text, NAME_CHARACTERS_MAX));

/** Reports whether data of a network are small enough to be stored. */
export function isStorable(data: NetworkData): data is BoundedValue<NetworkData> {
  return JSON.stringify(data).length <= DATA_CHARACTERS_MAX;
}

/** Why a step counts as not answered whose data are too large to be stored. No working server sends so much. */
export const TOO_LARGE: LegFailure = {
  code: "network_unavailable",
  networkCode: "answer_too_large",
};

/** What an address has only in a text that is not written as one, and what ends an attribute of HTML. */
const UNESCAPED = /[\s\p{Cc}"'<>\\^`{|}]/u;

/**
 * Returns the text if it is a web address, in a form that is safe in markup. Pages show it as a link, and a server of a
 * federated network chose it.
 */
function webAddress(text: string | null, protocols: readonly string[]): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const url = new URL(text);
  const address = UNESCAPED.test(text) ? url.href.replaceAll("'", "%27") : text;
  return protocols.includes(url.protocol) && address.length <= URL_CHARACTERS_MAX ? address : null;
}

/**
 * Returns an account as a server described it, limited for storage and safe to show. Undefined when it is too large.
 */
export function boundedAccount(account: Account): Account | undefined {
  if (!isNetworkId(account.id)) return undefined;
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

/** Returns the wait that a network asks for in seconds, at most a day. */
export function boundedWait(seconds: number): number {
  return Math.min(Math.max(seconds || 0, 0), WAIT_SECONDS_MAX);
}

/** Returns a network's own code, cut to what one may have. */
export const boundedCode = (code: string | null) => code && cut(code, NAME_CHARACTERS_MAX);

/** Returns a network's own words, cut to what a note may have. */
export const boundedNote = (note: string | null) => note && cut(note, NOTE_CHARACTERS_MAX);

/** Returns the values of a sentence, as many and as long as any sentence has. */
function boundedValues(values: SentenceValues): SentenceValues {
  const fitting = Object.entries(values)
    .slice(0, VALUES_MAX)
    .map(([name, value]) => [
      cut(name, VALUE_CHARACTERS_MAX),
      typeof value === "string" ? withoutMarks(cut(value, VALUE_CHARACTERS_MAX)) : value,
    ]);
  return Object.fromEntries(fitting);
}

/** Returns a failure with the network's words cut. */
export function boundedFailure(failure: LegFailure): BoundedValue<LegFailure> {
  const { networkCode, rule, field, values, note } = failure;
  const fitting: LegFailure = {
    ...failure,
    networkCode: boundedCode(networkCode),
    ...(rule !== undefined && { rule: cut(rule, NAME_CHARACTERS_MAX) }),
    ...(field !== undefined && { field: cut(field, NAME_CHARACTERS_MAX) }),
    ...(values !== undefined && { values: boundedValues(values) }),
    ...(note !== undefined && { note: cut(note, NOTE_CHARACTERS_MAX) }),
  };
  // Safe: all its texts are cut.
  return fitting as BoundedValue<LegFailure>;
}

/** Returns what a call made, with an id that fits and an address that may be shown. */
export function boundedResult({
  externalId,
  url,
}: Pick<Done, "externalId" | "url">): BoundedValue<Pick<Done, "externalId" | "url">> {
  // Safe: both are limited.
  return {
    externalId: externalId !== null && isNetworkId(externalId) ? externalId : null,
    url: webAddress(url, ["https:", "http:"]),
  } as BoundedValue<Pick<Done, "externalId" | "url">>;
}

/** An account that was authorized, as a row may hold it. */
export type BoundedAccount = LinkedAccount & {
  readonly credentials: BoundedValue<NetworkData>;
  readonly limits: BoundedValue<NetworkData>;
};
export type BoundedLinking =
  { readonly kind: "linked"; readonly linked: BoundedAccount } | LinkFailure;
export type BoundedChoice = LinkChoice & { readonly flow: BoundedValue<NetworkData> };
export type BoundedCredentials =
  | Exclude<CredentialsOutcome, { kind: "refreshed" }>
  | (Extract<CredentialsOutcome, { kind: "refreshed" }> & {
      readonly credentials: BoundedValue<NetworkData>;
    });

const oversizedAnswer = () => linkFailed("instance_unsupported", "the answer is too large");

const boundedLinkFailure = ({ note, ...failure }: LinkFailure): LinkFailure =>
  note === undefined ? failure : { ...failure, note: cut(note, NOTE_CHARACTERS_MAX) };

/** Returns an account that was authorized as a row can hold it, or why none is linked. */
export function boundedLink(outcome: LinkOutcome): BoundedLinking {
  if (outcome.kind === "failed") return boundedLinkFailure(outcome);
  const { linked } = outcome;
  const { scopes, limits, credentials, expiresAt, instanceUrl, grantId } = linked;
  const account = boundedAccount(linked.account);
  if (account === undefined || !isStorable(limits) || !isStorable(credentials))
    return oversizedAnswer();
  if ((instanceUrl?.length ?? 0) > URL_CHARACTERS_MAX) return oversizedAnswer();
  if (grantId !== undefined && !isNetworkId(grantId)) return oversizedAnswer();
  const listed = scopes.slice(0, SCOPES_MAX).map((scope) => cut(scope, NAME_CHARACTERS_MAX));
  const fitting = { account, limits, credentials, expiresAt: boundedTime(expiresAt) };
  return { kind: "linked", linked: { ...linked, ...fitting, scopes: listed } };
}

/** Returns the accounts to choose from as a row can hold them and a page can show them. */
export function boundedChoice({
  kind,
  candidates,
  isCut,
  flow,
}: LinkChoice): BoundedChoice | LinkFailure {
  if (!isStorable(flow)) return oversizedAnswer();
  const known = candidates.filter(({ id }) => isNetworkId(id));
  const shown = known
    .slice(0, CANDIDATES_MAX)
    .map((one) => ({ ...one, label: name(one.label), hint: name(one.hint) }));
  const isLonger = isCut === true || shown.length < known.length;
  return { kind, candidates: shown, ...(isLonger && { isCut: true }), flow };
}

/** Returns where a browser is sent, or why it can't be. */
export function boundedRedirect(
  outcome: OAuthRedirect | LinkFailure,
): (OAuthRedirect & { readonly flow: BoundedValue<NetworkData> }) | LinkFailure {
  if (outcome.kind === "failed") return boundedLinkFailure(outcome);
  const { url, state = "", flow } = outcome;
  const isShort = url.length <= 4 * URL_CHARACTERS_MAX && state.length <= STATE_CHARACTERS_MAX;
  return isShort && isStorable(flow) ? { ...outcome, flow } : oversizedAnswer();
}

/** Returns renewed credentials that can be stored, or why there are none. */
export function boundedCredentials(outcome: CredentialsOutcome): BoundedCredentials {
  if (outcome.kind !== "refreshed") return outcome;
  const { credentials, expiresAt } = outcome;
  return isStorable(credentials)
    ? { kind: "refreshed", credentials, expiresAt: boundedTime(expiresAt) }
    : { kind: "try_later", failure: TOO_LARGE };
}
