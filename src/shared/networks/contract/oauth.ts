import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type ClassifiedAnswer, exchange, oauthError } from "./answers.ts";
import type { LegErrorCode } from "./errors.ts";
import { scopesLacked } from "./fields.ts";
import type { NetworkData, Texts } from "./draft.ts";
import { type LinkErrorCode, type LinkFailure, linkFailed, type OAuthCallback } from "./link.ts";
import type { LinkChoice, LinkOutcome, LinkRestart, OAuthFlow, OAuthStart } from "./link.ts";
import type { CredentialsOutcome } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";

// The parts of OAuth's code flow that are the same at every network (RFC 6749).

type CallbackErrors = Readonly<Record<string, LinkErrorCode>>;

/** Errors that come back with the browser instead of a code: a refusal by the person, or of our app, or an outage. */
const CALLBACK_ERRORS: CallbackErrors = {
  access_denied: "access_denied",
  invalid_client: "service_refused",
  invalid_request: "service_refused",
  invalid_scope: "service_refused",
  server_error: "network_unavailable",
  temporarily_unavailable: "network_unavailable",
  unauthorized_client: "service_refused",
};

/** Returns the code of a callback, or why there is none. `own` has the network's own errors. */
export function readCode(
  { error, error_description: words = "", code = "" }: Texts,
  own: CallbackErrors = {},
): string | LinkFailure {
  if (error !== undefined)
    return byBrowser(
      own[error] ?? CALLBACK_ERRORS[error] ?? "access_denied",
      `${error} ${words}`.trim(),
    );
  return code === "" ? linkFailed("input_invalid", "no code came back") : code;
}

/** Returns a failure that the browser brought along. */
export function byBrowser(code: LinkErrorCode, note: string): LinkFailure {
  return { ...linkFailed(code, note), isUnproven: true };
}

const CODES: Partial<Record<LegErrorCode, LinkErrorCode>> = {
  account_restricted: "account_restricted",
  permission_missing: "permission_missing",
  rate_limited: "rate_limited",
  quota_exceeded: "rate_limited",
  app_misconfigured: "service_refused",
  // The person did everything as asked, and waiting does not help: only the service can correct the request.
  feature_unsupported: "service_refused",
  invalid_request: "service_refused",
};

/**
 * Returns the failure of a refused call. The token was issued just now, so nobody has taken it back: networks don't know
 * one everywhere at once, and some ask the person to log in there first, which is a rule. `asked` says for whom
 * the call was made.
 */
export function refusedLink(
  classified: ClassifiedAnswer,
  asked: "account" | "app" = "account",
): LinkFailure {
  const { code, networkCode, note, isOfApp, rule } = classified;
  const isHeld = code === "connection_needs_reauth" && rule !== undefined;
  const meant = isHeld ? "account_restricted" : code;
  const known = isOfApp === true ? "service_limited" : (CODES[meant] ?? "network_unavailable");
  const failure = linkFailed(known, `${networkCode ?? ""} ${note}`.trim());
  // One account can't tell: a network may answer it alone as if the app were refused (`blame.ts`).
  const isUnproven = known === "service_refused" && asked === "account";
  return isUnproven ? { ...failure, isUnproven } : failure;
}

/** Returns a failure if a needed scope was not granted. On some pages a person may decline them one by one. */
export function lacking(
  needed: readonly string[],
  granted: readonly string[],
): LinkFailure | undefined {
  const missing = scopesLacked(needed, granted);
  return missing.length > 0 ? linkFailed("permission_missing", missing.join(" ")) : undefined;
}

/** Makes the request that posts a form to an authorization server. */
export function formRequest(
  url: string,
  fields: Readonly<Record<string, string | undefined>>,
): HttpRequest {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    method: "POST",
    url,
    headers: {
      accept: "application/json",
      "accept-language": "en",
      "content-type": "application/x-www-form-urlencoded",
    },
    // Safe: undefined values were left out.
    body: new URLSearchParams(given as [string, string][]).toString(),
  };
}

/** Posts a form to an authorization server. */
export function postForm(
  url: string,
  fields: Texts,
  tools: NetworkTools,
): Promise<HttpResponse | HttpFailure> {
  return exchange(tools, formRequest(url, fields));
}

/** Returns the redirect to the network's own page, with what its query has beside the usual; `flow` is kept. */
export function redirectTo(
  page: string,
  { redirectUri: redirect_uri, state }: Pick<OAuthStart, "redirectUri" | "state">,
  own: Texts,
  flow: NetworkData = {},
): ReturnType<OAuthFlow["start"]> {
  const query = { redirect_uri, response_type: "code", state, ...own };
  // LinkedIn documents spaces as %20. Whether it accepts a plus instead, it doesn't say.
  const search = new URLSearchParams(query).toString().replaceAll("+", "%20");
  return Promise.resolve({ kind: "redirect", url: `${page}?${search}`, flow });
}

interface LinkStep<Found> {
  readonly request: HttpRequest;
  /** Returns the contents of an answer, or undefined when it isn't the expected one. */
  readonly read: (answer: HttpResponse) => Found | undefined;
  readonly refuse: (answer: HttpResponse) => LinkFailure | Promise<LinkFailure>;
  /** Error code of a call without an answer. The default is `network_unavailable`. */
  readonly unreachable?: LinkErrorCode;
}

/** Makes one call of linking and reads its answer. */
export async function linkStep<Found>(
  { request, read, refuse, unreachable = "network_unavailable" }: LinkStep<Found>,
  tools: NetworkTools,
): Promise<Found | LinkFailure> {
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return linkFailed(unreachable, answer.message);
  return read(answer) ?? (await refuse(answer));
}

/** What came back with the browser from the network's page. */
export interface OAuthReturn<Flow> {
  readonly code: string;
  readonly callback: OAuthCallback;
  readonly flow: Flow;
  readonly tools: NetworkTools;
}

/** A network's own part of the steps after its page has led back. */
interface CodeFlow<Flow, Grant extends object, Linked, Code> {
  readonly flowOf: (data: NetworkData) => Flow;
  /** Returns the code that came back, or why there is none. */
  readonly codeOf: (callback: OAuthCallback, flow: Flow) => Code;
  /** Exchanges the code for tokens. */
  readonly redeem: (returned: OAuthReturn<Flow>) => Promise<Grant | LinkFailure>;
  /** Returns a failure if the grant lacks what publishing needs. By default, `link` checks this. */
  readonly lacking?: (grant: Grant, flow: Flow) => LinkFailure | undefined;
  readonly link: (grant: Grant, returned: OAuthReturn<Flow>) => Promise<Linked>;
}

/** Makes the step that finishes a code flow: the code, its tokens, their scopes, the account. */
export function finishCode<
  Flow,
  Grant extends object,
  Linked extends LinkOutcome | LinkChoice,
  Code extends string | LinkFailure | LinkRestart,
>(own: CodeFlow<Flow, Grant, Linked, Code>) {
  return async (
    callback: OAuthCallback,
    tools: NetworkTools,
  ): Promise<Linked | LinkFailure | Exclude<Code, string>> => {
    const flow = own.flowOf(callback.flow);
    const code = own.codeOf(callback, flow);
    // Safe: a code that is not a string has one of the other types of `Code`.
    if (typeof code !== "string") return code as Exclude<Code, string>;
    const returned = { code, callback, flow, tools };
    const grant = await own.redeem(returned);
    if (isLinkFailure(grant)) return grant;
    return own.lacking?.(grant, flow) ?? (await own.link(grant, returned));
  };
}

export function isLinkFailure(found: object): found is LinkFailure {
  return "kind" in found && found.kind === "failed";
}

/** Errors of our app, and not of a code or token. */
export const CLIENT_ERRORS: readonly string[] = ["invalid_client", "unauthorized_client"];

/**
 * Interprets a refused renewal (RFC 6749, section 5.2): the refresh token is useless, or our app is refused. `classify`
 * interprets any other answer.
 */
export function refusedRenewal(classify: (answer: HttpResponse, now: Date) => ClassifiedAnswer) {
  return (answer: HttpResponse, now: Date): ClassifiedAnswer => {
    const error = oauthError(answer);
    const isOurs = error !== undefined && CLIENT_ERRORS.includes(error);
    if (error === undefined || (!isOurs && answer.status !== 400)) return classify(answer, now);
    const code = isOurs ? "app_misconfigured" : "connection_needs_reauth";
    return { code, effect: "refuse", networkCode: error, note: "", retryAfterSeconds: null };
  };
}

export function renewalRejected(
  code: "connection_needs_reauth" | "permission_missing" | "app_misconfigured",
  networkCode: string | null,
  note?: string,
): CredentialsOutcome {
  const failure = { code, networkCode, ...(note === undefined ? {} : { note }) };
  return { kind: "rejected", failure };
}

interface RenewalNeed {
  readonly isDue: boolean;
  /** Whether the token can still be used for a while when it can't be renewed. */
  readonly isUsable: boolean;
  /** Reports whether it can still be used after this outcome. By default, after temporary ones. */
  readonly servesOn?: (outcome: CredentialsOutcome) => boolean;
}

/** Renews a token that is about to end. */
export async function renewing(
  { isDue, isUsable, servesOn = ({ kind }) => kind === "try_later" }: RenewalNeed,
  renew: () => Promise<CredentialsOutcome>,
): Promise<CredentialsOutcome> {
  if (!isDue) return { kind: "usable" };
  const outcome = await renew();
  return isUsable && servesOn(outcome) ? { kind: "usable" } : outcome;
}
