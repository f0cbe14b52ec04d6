import type { NetworkData, Texts } from "./draft.ts";
import type { NetworkApp } from "./settings.ts";
import type { NetworkTools } from "./tools.ts";
import { noteOf } from "./answers.ts";

export interface Account {
  /** Unique within the network for all time (a DID, or host and account id …). */
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl: string | null;
  /** Empty if the network doesn't tell it. Answers then have null. */
  readonly url: string;
  readonly kind: string;
}

/** An account that an end user authorized, as the network's own steps found it. */
export interface LinkedAccount {
  readonly account: Account;
  /** Sealed at rest by the caller. */
  readonly credentials: NetworkData;
  readonly instanceUrl: string | null;
  readonly scopes: readonly string[];
  /** The limits that the network states for this account, stored with the connection and given to `check`. */
  readonly limits: NetworkData;
  readonly expiresAt: string | null;
  /** What `revoke` ends, if it is more than this account. Accounts with the same id end together. */
  readonly grantId?: string;
}

/** Why linking may fail. The page has one message per code. */
export const LINK_ERRORS = [
  "wrong_credentials",
  "app_password_needed",
  "account_not_found",
  "account_restricted",
  "account_moved",
  "instance_unreachable",
  "instance_protected",
  "instance_unsupported",
  "access_denied",
  "other_account",
  "permission_missing",
  "rate_limited",
  "service_limited",
  "service_refused",
  "network_unavailable",
  "account_kind_unsupported",
  "nothing_to_choose",
  "input_invalid",
] as const;

export type LinkErrorCode = (typeof LINK_ERRORS)[number];

export interface LinkFailure {
  readonly kind: "failed";
  readonly code: LinkErrorCode;
  readonly note?: string;
  /** Whether anybody may have written it, because the browser brought it, or one account can't tell: no operator is called. */
  readonly isUnproven?: true;
  /** The field of the form that is wrong, if the code alone doesn't tell. */
  readonly field?: string;
}

export type LinkOutcome = { readonly kind: "linked"; readonly linked: LinkedAccount } | LinkFailure;

/** An account that the end user may link with the authorization just given. */
export interface LinkCandidate {
  readonly id: string;
  readonly label: string;
  /** Tells it from others with the same label. May be empty. */
  readonly hint: string;
  /** Whether it is only shown, because the person's role there doesn't allow posts. */
  readonly isBarred?: boolean | undefined;
}

/** The authorization covers several accounts. `flow` is stored (sealed) until one is chosen, and given to `choose`. */
export interface LinkChoice {
  readonly kind: "choose";
  readonly candidates: readonly LinkCandidate[];
  /** Whether there are more than these. */
  readonly isCut?: boolean;
  readonly flow: NetworkData;
}

/** The server refused what was requested, so the authorization should be tried again with these fields. */
export interface LinkRestart {
  readonly kind: "restart";
  readonly form: Texts;
}

/** A field of the network's form on the connect page. */
export interface LinkField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** Whether it is hidden while it is typed, and never shown again. */
  readonly secret?: boolean;
  readonly placeholder?: string;
  /** What browsers may fill in. The default is nothing. */
  readonly autocomplete?: string;
  /** Values that are offered while it is typed. */
  readonly suggestions?: readonly string[];
  /** Returns what it is filled in with when this account is linked again. */
  readonly known?: (linked: Pick<LinkedAccount, "account" | "instanceUrl">) => string;
  /** The values to choose from, instead of typing. The first is the default. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** Reports whether a deployment with this registration asks for the field. By default every deployment does. */
  readonly isAsked?: (app: NetworkApp | undefined) => boolean;
}

export interface OAuthStart {
  /** Where the network leads back to. With `hasServers`, each server gets its own by `serverCallback`. */
  readonly redirectUri: string;
  /** Opaque to the network. It comes back with the callback. */
  readonly state: string;
  /** RFC 7636, S256. */
  readonly codeChallenge: string;
}

/** A redirect to the network's own page. */
export interface OAuthRedirect {
  readonly kind: "redirect";
  readonly url: string;
  readonly flow: NetworkData;
  /** Origin of the server, for a network with `hasServers`. The callback is only accepted at this server's address. */
  readonly server?: string;
  /** The state that the network's library chose instead of `oauth.state`. It is as hard to guess. */
  readonly state?: string;
}

export interface OAuthCallback {
  readonly params: Texts;
  readonly codeVerifier: string;
  /** As it was given to `start`. */
  readonly redirectUri: string;
  readonly flow: NetworkData;
}

/** Fields that are enough to sign in. */
export interface LinkForm {
  readonly fields: readonly LinkField[];
  signIn(form: Texts, tools: NetworkTools): Promise<LinkOutcome>;
}

/** Signing in with a form and the network's own authorization page. */
export interface OAuthFlow {
  readonly kind: "oauth";
  readonly fields: readonly LinkField[];
  /**
   * Whether the network has many authorization servers that don't name themselves in their answers. Each then has a
   * callback address of its own, so that no server can receive another one's code.
   */
  readonly hasServers?: true;
  /**
   * Origins that a browser passes before the network shows its first page, because the page that it leaves allows no
   * others. Absent when the end user names the server, so that any may come.
   */
  readonly origins?: readonly [string, ...string[]];
  /** Begins the flow. `flow` is stored (sealed) until the callback, and given to `finish`. */
  start(form: Texts, oauth: OAuthStart, tools: NetworkTools): Promise<OAuthRedirect | LinkFailure>;
  finish(
    callback: OAuthCallback,
    tools: NetworkTools,
  ): Promise<LinkOutcome | LinkChoice | LinkRestart>;
  /** Links the chosen account after `finish` has offered a choice. `candidateId` is one of its candidates. */
  choose?(candidateId: string, flow: NetworkData, tools: NetworkTools): Promise<LinkOutcome>;
  /** A form that links as well. The page offers it below the first. */
  readonly alternative?: LinkForm;
  /** Without `NetworkTools.app`, only the alternative exists, and the page shows its form as the only one. */
  readonly needsApp?: boolean;
}

/**
 * Returns a server's part of its callback address: `example.social`, or `example.social_8443` with a port. The origin
 * is in the form of URL parsers (lower case, punycode, no default port), so a server has one address. Host names have
 * no underscore, so no two servers share one.
 */
export function serverSegment(origin: string): string {
  return new URL(origin).host.replace(/[^a-z0-9.-]/g, "_");
}

/** Returns the address to which the server of this origin leads back. */
export function serverCallback(redirectUri: string, origin: string): string {
  return `${redirectUri}/${serverSegment(origin)}`;
}

/** How an account of the network is linked. */
export type LinkFlow = (LinkForm & { readonly kind: "form" }) | OAuthFlow;

/** Makes a failed step of linking. Secrets are removed from the note, and it is shortened. */
export function linkFailed(code: LinkErrorCode, note?: string): LinkFailure {
  return { kind: "failed", code, ...(note === undefined ? {} : { note: noteOf(note) }) };
}
