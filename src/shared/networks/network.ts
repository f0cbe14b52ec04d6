import type * as z from "zod";
import type { LegErrorCode } from "./errors.ts";

/** The five networks, in the order of the specification. */
export const NETWORK_NAMES = ["facebook", "instagram", "linkedin", "bluesky", "mastodon"] as const;
export type NetworkName = (typeof NETWORK_NAMES)[number];

export interface MediaItem {
  readonly url: string;
  readonly altText: string | null;
}

/** What one leg is to say: the post's text and media after the network's own `platformOptions` were applied. */
export interface LegDraft {
  readonly text: string;
  readonly media: readonly MediaItem[];
  /** `platformOptions.<network>`, parsed by the network's `options`. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A rule of a network that a draft breaks. `rule` is stable: `<network>.<subject>.<what>`, e.g. `bluesky.text.graphemes`. */
export interface Problem {
  readonly severity: "error" | "warning";
  readonly code: LegErrorCode;
  readonly rule: string;
  readonly message: string;
  readonly remediation: string;
  /** Path of the request's field: `text`, `mediaUrls`, `platformOptions.bluesky.langs` … */
  readonly field: string | null;
  readonly mediaIndex: number | null;
}

export interface TextMeasure {
  readonly usedCharacters: number;
  readonly maxCharacters: number;
}

/** JSON that only the network itself reads: it parses what it once wrote with a schema of its own. */
export type NetworkData = Readonly<Record<string, unknown>>;

export interface Account {
  /** Unique within the network for all time (a DID, `host` and account id …). */
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl: string | null;
  readonly url: string;
  readonly kind: string;
}

/** An account that an end user authorised, as the network's own steps found it. */
export interface LinkedAccount {
  readonly account: Account;
  /** Sealed at rest by the caller. */
  readonly credentials: NetworkData;
  readonly instanceUrl: string | null;
  readonly scopes: readonly string[];
  /** What the network told of its limits for this account; kept with the connection, given back to `check`. */
  readonly limits: NetworkData;
  readonly expiresAt: string | null;
  /** What `revoke` ends, where that is more than this account: accounts with the same one end together. */
  readonly grantId?: string;
}

export interface HttpRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | FormData;
  /** Total time for the whole call; the network timeout of the settings when absent. */
  readonly timeoutMs?: number;
  /** Longest answer that is read; 1 MiB when absent. */
  readonly bytesMax?: number;
  /** What becomes of a longer one: the call fails, or the rest is left unread where only the status matters. */
  readonly beyondMax?: "fail" | "cut";
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  text(): string;
  /** The parsed body, or undefined when it is not JSON (an HTML error page, nothing at all). */
  json(): unknown;
}

/**
 * The call did not come back with an answer. `not_sent`: the network certainly did not get it. `in_doubt`: it may have.
 * Thrown by `NetworkTools.http`; a network turns it into an outcome.
 */
export class HttpFailure extends Error {
  readonly delivery: "not_sent" | "in_doubt";
  readonly reason:
    | "blocked_address"
    | "timeout"
    | "connect_failed"
    | "tls_failed"
    | "connection_lost"
    | "too_large";

  constructor(
    delivery: HttpFailure["delivery"],
    reason: HttpFailure["reason"],
    options?: { cause?: unknown },
  ) {
    super(`${reason} (${delivery})`, options);
    this.name = "HttpFailure";
    this.delivery = delivery;
    this.reason = reason;
  }
}

export interface FetchedMedia {
  readonly bytes: Uint8Array;
  /** Judged by the content, not by what the server claims. */
  readonly contentType: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** A media file could not be had: `media_unreachable`, or `media_rejected` when it is larger than asked for. */
export class MediaFailure extends Error {
  readonly code: "media_unreachable" | "media_rejected";

  constructor(code: MediaFailure["code"], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "MediaFailure";
    this.code = code;
  }
}

/** The relay's own registration with a network, from the settings. */
export interface NetworkApp {
  readonly id: string;
  readonly secret: string;
  /** Of the network's API. */
  readonly version: string;
  /** A second registration, where the network wants one of its own for organisations. */
  readonly organizations?: { readonly id: string; readonly secret: string };
}

/** The registrations of this deployment. */
export type NetworkApps = Readonly<Partial<Record<NetworkName, NetworkApp>>>;

/** What the process hands to a network: it dials, stores and tells the time by these alone. */
export interface NetworkTools {
  /** There for a network that needs one: without it, none of its steps is walked. */
  readonly app: NetworkApp | undefined;
  http(request: HttpRequest): Promise<HttpResponse>;
  now(): Date;
  /** Downloads a customer's media file; throws `MediaFailure`. */
  fetchMedia(url: string, limits: { readonly bytesMax: number }): Promise<FetchedMedia>;
  /** Facts shared by all accounts of one host, e.g. a client registration; sealed at rest. */
  readonly hosts: {
    find(host: string): Promise<NetworkData | undefined>;
    save(host: string, data: NetworkData): Promise<void>;
    forget(host: string): Promise<void>;
  };
}

export interface LegFailure {
  readonly code: LegErrorCode;
  /** The network's own code, e.g. `ExpiredToken` or `190/463`. */
  readonly networkCode: string | null;
  readonly rule?: string;
  readonly mediaIndex?: number;
  /** The network's own words, at most 500 characters, without secrets: for the timeline and the log. */
  readonly note?: string;
}

/** Everything a network needs to publish one leg. Nothing in it changes between the attempts but `remote` and `sentAt`. */
export interface LegToPublish {
  /** Stable over every attempt with the same content: the network's idempotency key derives from it. */
  readonly key: string;
  readonly draft: LegDraft;
  readonly account: Account;
  readonly credentials: NetworkData;
  readonly instanceUrl: string | null;
  readonly limits: NetworkData;
  /** What `begin` chose and `prepare` added. */
  readonly remote: NetworkData;
  /** When a visible call was first attempted; null when there was none. */
  readonly sentAt: Date | null;
}

export interface Published {
  readonly kind: "published";
  readonly networkPostId: string;
  readonly url: string | null;
}
/** The network certainly did not publish and a later attempt may succeed. */
export interface TryLater {
  readonly kind: "try_later";
  readonly failure: LegFailure;
  readonly retryAfterSeconds?: number;
}
/** The network certainly did not publish and will not. */
export interface Rejected {
  readonly kind: "rejected";
  readonly failure: LegFailure;
}

export type PrepareOutcome =
  | { readonly kind: "ready"; readonly remote: NetworkData }
  | { readonly kind: "processing"; readonly remote: NetworkData; readonly pollAfterSeconds: number }
  | TryLater
  | Rejected;

export type PublishOutcome =
  | Published
  /** What `prepare` made is gone or not usable yet; nothing was published. `remote` is what to prepare again from. */
  | {
      readonly kind: "prepare_again";
      readonly remote: NetworkData;
      readonly failure: LegFailure;
      readonly pollAfterSeconds: number;
    }
  /**
   * The call may have had its effect, or the network still works on it: `reconcile` comes next, never a second
   * `publish`. `remote` is what it will want to know of the answer.
   */
  | { readonly kind: "in_doubt"; readonly failure: LegFailure; readonly remote?: NetworkData }
  | TryLater
  | Rejected;

export type ReconcileOutcome =
  | Published
  /**
   * `publish` may be called (again): a repeat is harmless. `isAbsent` says more: nothing of the earlier calls was
   * published, so that a failure from here on is a plain one.
   */
  | { readonly kind: "may_publish"; readonly isAbsent: boolean }
  /** Can't be told now, ask again later. */
  | { readonly kind: "ask_again"; readonly failure: LegFailure; readonly pollAfterSeconds: number }
  /** Can never be told: the leg ends as `outcome_unknown`. */
  | { readonly kind: "unknowable"; readonly failure: LegFailure }
  | Rejected;

export type CredentialsOutcome =
  | { readonly kind: "usable" }
  | {
      readonly kind: "refreshed";
      readonly credentials: NetworkData;
      readonly expiresAt: string | null;
    }
  | TryLater
  | Rejected;

/** What the end user is told when linking fails; the page has one message per code. */
export const LINK_ERRORS = [
  "wrong_credentials",
  "app_password_needed",
  "account_not_found",
  "account_restricted",
  "instance_unreachable",
  "instance_unsupported",
  "access_denied",
  "permission_missing",
  "rate_limited",
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
}
export type LinkOutcome = { readonly kind: "linked"; readonly linked: LinkedAccount } | LinkFailure;

/** An account that the end user may link with the authorisation just given. */
export interface LinkCandidate {
  readonly id: string;
  readonly label: string;
  /** Tells it from others of the same label; may be empty. */
  readonly hint: string;
}

/** The authorisation covers several accounts. `flow` is kept (sealed) until one is chosen and given to `choose`. */
export interface LinkChoice {
  readonly kind: "choose";
  readonly candidates: readonly LinkCandidate[];
  readonly flow: NetworkData;
}

/** A field of the network's form on the connect page. */
export interface LinkField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly secret: boolean;
  readonly placeholder: string;
  readonly autocomplete: string;
  /** One of these is chosen instead of typed; the first is meant when nothing is said. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** Absent: always. Otherwise only a deployment with such a registration asks for it. */
  readonly isAsked?: (app: NetworkApp | undefined) => boolean;
}

export interface OAuthStart {
  readonly redirectUri: string;
  /** Opaque to the network; comes back with the callback. */
  readonly state: string;
  /** RFC 7636, S256. */
  readonly codeChallenge: string;
}

/** How an account of the network is linked: by a form alone, or by a form and the network's own authorisation page. */
export type LinkFlow =
  | {
      readonly kind: "form";
      readonly fields: readonly LinkField[];
      signIn(form: Readonly<Record<string, string>>, tools: NetworkTools): Promise<LinkOutcome>;
    }
  | {
      readonly kind: "oauth";
      readonly fields: readonly LinkField[];
      /** `flow` is kept (sealed) until the callback and given to `finish`. */
      start(
        form: Readonly<Record<string, string>>,
        oauth: OAuthStart,
        tools: NetworkTools,
      ): Promise<
        | { readonly kind: "redirect"; readonly url: string; readonly flow: NetworkData }
        | LinkFailure
      >;
      finish(
        callback: {
          readonly params: Readonly<Record<string, string>>;
          readonly codeVerifier: string;
          readonly redirectUri: string;
          readonly flow: NetworkData;
        },
        tools: NetworkTools,
      ): Promise<LinkOutcome | LinkChoice>;
      /** Where `finish` may ask for a choice; `candidateId` is one of those it offered. */
      choose?(candidateId: string, flow: NetworkData, tools: NetworkTools): Promise<LinkOutcome>;
    };

/**
 * A social network. Generic code never names one: it walks these steps, each of which may be repeated after a crash.
 * `begin` → `prepare` (until ready) → sent marker → `publish`; `reconcile` stands in for a second `publish`.
 */
export interface Network {
  readonly name: NetworkName;
  /** Shown to end users. */
  readonly title: string;
  /** Whether it takes a registration of the relay (`NetworkTools.app`); absent: none. */
  readonly needsApp?: boolean;
  /** `platformOptions.<name>`: a strict object. */
  readonly options: z.ZodType<Readonly<Record<string, unknown>>>;
  readonly link: LinkFlow;
  measure(draft: LegDraft, limits: NetworkData): TextMeasure;
  /** Which quota of a rolling day and account the draft would use up, e.g. `posts`; absent where there is none. */
  quotaOf?(draft: LegDraft): string | undefined;
  /** Pure. `limits` is `{}` when the account is not known. */
  check(draft: LegDraft, limits: NetworkData): readonly Problem[];
  /** Chosen once per leg content, before anything is sent, and kept over every attempt: record key, creation time … */
  begin(leg: { readonly key: string; readonly now: Date }): NetworkData;
  /** Looks at the stored credentials and renews them when they are about to end. Called under a lease. */
  freshen(
    credentials: NetworkData,
    instanceUrl: string | null,
    tools: NetworkTools,
  ): Promise<CredentialsOutcome>;
  /** Uploads and containers: repeatable, nothing of it is visible. One status check per call, never a wait. */
  prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome>;
  /** The one visible call. */
  publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome>;
  /** Read-only: did an earlier `publish` have its effect? */
  reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome>;
  /** Ends the authorisation at the network; best effort. */
  revoke(credentials: NetworkData, instanceUrl: string | null, tools: NetworkTools): Promise<void>;
}
