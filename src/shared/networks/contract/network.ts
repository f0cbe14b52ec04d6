import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import type * as z from "zod";
import type { Setting } from "../../runtime/setting.ts";
import type { Shape } from "../../runtime/shape.ts";
import type { LegErrorCode } from "./errors.ts";
import type { LINK_ERRORS } from "./link-errors.ts";
import type {
  FetchedMedia,
  FittedImage,
  ImageTarget,
  MediaFacts,
  MediaFile,
  MediaRepair,
  MediaTargets,
} from "./media.ts";
import type { RuleTable } from "./rule.ts";

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
export type NetworkApps = Readonly<Partial<Record<string, NetworkApp>>>;

/** What a network makes of its settings. */
export interface FromSettings {
  readonly app?: NetworkApp | undefined;
  /** Per rolling day and real account, by what `Network.quotaOf` answers. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** Rules between settings that are broken: nothing starts with these. */
  readonly problems?: readonly string[];
}

/** The settings of a network; made with `networkSettings`. */
export interface NetworkSettings {
  readonly table: Readonly<Record<string, Setting<unknown>>>;
  read(values: Readonly<Record<string, unknown>>): FromSettings;
}

/** What the process hands to a network: it dials, stores and tells the time by these alone. */
export interface NetworkTools {
  /** There for a network that needs one: without it, none of its steps is walked. */
  readonly app: NetworkApp | undefined;
  http(request: HttpRequest): Promise<HttpResponse>;
  now(): Date;
  /** Downloads a customer's media file; throws `MediaFailure`. */
  fetchMedia(url: string, limits: { readonly bytesMax: number }): Promise<FetchedMedia>;
  /** Opens a customer's media file of at most `bytesMax`, without downloading it; throws `MediaFailure`. */
  openMedia(url: string, limits: { readonly bytesMax: number }): Promise<MediaFile>;
  /** Downloads an opened image and makes it fit; the same file always gives the same bytes. Throws `MediaFailure`. */
  fitImage(file: MediaFile, target: ImageTarget): Promise<FittedImage>;
  /** What `fitImage` would do, as far as the first bytes tell; nothing when it fits. Throws `MediaFailure`. */
  planImage(file: MediaFile, target: ImageTarget): Promise<readonly MediaRepair[]>;
  /** An address of ours at which a network finds the image of `url` made to fit: public, for a day and a bit. */
  fittedUrl(url: string, target: ImageTarget): string;
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
  /** What to do about it, where the network's signal has a way out of its own; the code's otherwise. */
  readonly remediation?: string;
  readonly mediaIndex?: number;
  /** The network's own words, at most 500 characters, without secrets: for the timeline and the log. */
  readonly note?: string;
  /** The HTTP status of a refusal that the network's error table does not know. */
  readonly unmappedStatus?: number;
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
  /** `remote`: what was got so far and is worth keeping. */
  | (TryLater & { readonly remote?: NetworkData })
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
  | {
      readonly kind: "in_doubt";
      readonly failure: LegFailure;
      readonly remote?: NetworkData;
      readonly pollAfterSeconds?: number;
    }
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

/** What a network says of its limits for an account: they may change long after it was linked. */
export type LimitsOutcome =
  { readonly kind: "read"; readonly limits: NetworkData } | TryLater | Rejected;

/** An account as it is looked after while nothing is published to it. */
export type KeptAccount = Pick<LinkedAccount, "account" | "credentials" | "instanceUrl">;

/** How an account is kept usable, and known to be, while nothing is published to it. Once a day at most. */
export interface Upkeep {
  /** Longest time that an account goes unused before `freshen` and `look` are called for it; 0: every day. */
  readonly idleDaysMax: number;
  /** A cheap read that only an authorised caller gets; absent where `freshen` tells as much. */
  look?(kept: KeptAccount, tools: NetworkTools): Promise<{ kind: "usable" } | TryLater | Rejected>;
  /** What `limits` of the account would be if it were linked now; absent where they never change. */
  readLimits?(kept: KeptAccount, tools: NetworkTools): Promise<LimitsOutcome>;
}

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

/** Off to the network's own page. */
export interface OAuthRedirect {
  readonly kind: "redirect";
  readonly url: string;
  readonly flow: NetworkData;
  /** Where the network's library chose a state of its own, as hard to guess, in place of `oauth.state`. */
  readonly state?: string;
}

export interface OAuthCallback {
  readonly params: Readonly<Record<string, string>>;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  readonly flow: NetworkData;
}

/** Fields that are enough to sign in. */
export interface LinkForm {
  readonly fields: readonly LinkField[];
  signIn(form: Readonly<Record<string, string>>, tools: NetworkTools): Promise<LinkOutcome>;
}

/** By a form and the network's own authorisation page. */
export interface OAuthFlow {
  readonly kind: "oauth";
  readonly fields: readonly LinkField[];
  /**
   * Origins that a browser is led to, or passed on between, before the network shows its first page: the page that it
   * leaves lets it go nowhere else. Absent: any, because the end user names the server.
   */
  readonly origins?: readonly [string, ...string[]];
  /** `flow` is kept (sealed) until the callback and given to `finish`. */
  start(
    form: Readonly<Record<string, string>>,
    oauth: OAuthStart,
    tools: NetworkTools,
  ): Promise<OAuthRedirect | LinkFailure>;
  finish(callback: OAuthCallback, tools: NetworkTools): Promise<LinkOutcome | LinkChoice>;
  /** Where `finish` may ask for a choice; `candidateId` is one of those it offered. */
  choose?(candidateId: string, flow: NetworkData, tools: NetworkTools): Promise<LinkOutcome>;
  /** A second way in, by a form alone: the page offers it below the first. */
  readonly alternative?: LinkForm;
  /** Without `NetworkTools.app` only the alternative is there: the page shows its form as the only one. */
  readonly needsApp?: boolean;
}

/**
 * A JSON document that a network wants the service to publish, at `/v1/connect/<network>/<file>`: the metadata of an
 * OAuth client, its public keys.
 */
export interface NetworkDocument {
  readonly file: string;
  /** How the route is described in the API's reference. */
  readonly reference: {
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
  };
  /** Returns the document; undefined where this registration has none, which is answered with 404. */
  make(app: NetworkApp): Readonly<Record<string, unknown>> | undefined;
}

/** How an account of the network is linked. */
export type LinkFlow = (LinkForm & { readonly kind: "form" }) | OAuthFlow;

/**
 * A social network. Generic code never names one: it walks these steps, each of which may be repeated after a crash.
 * `begin` → `prepare` (until ready) → sent marker → `publish`; `reconcile` stands in for a second `publish`.
 */
export interface Network {
  /** As in the registry, in requests and in rows; part of its rules' ids. */
  readonly name: string;
  /** Shown to end users. */
  readonly title: string;
  /** Whether it takes a registration of the relay (`NetworkTools.app`); absent: none. */
  readonly needsApp?: boolean;
  /** What it is configured by; absent: nothing. */
  readonly settings?: NetworkSettings;
  /** What the service publishes for it; absent: nothing. */
  readonly documents?: readonly NetworkDocument[];
  /** Until when a version of its API (`NetworkApp.version`) certainly lives; absent where nobody can tell ahead. */
  versionEnd?(version: string): Date;
  /** `platformOptions.<name>`: a strict object. */
  readonly options: Shape<z.ZodType<Readonly<Record<string, unknown>>>>;
  readonly link: LinkFlow;
  measure(draft: LegDraft, limits: NetworkData): TextMeasure;
  /** Which quota of a rolling day and account the draft would use up, e.g. `posts`; absent where there is none. */
  quotaOf?(draft: LegDraft): string | undefined;
  /** What the network itself told of a quota for the account, where that may be less than the settings allow. */
  quotaMaxOf?(kind: string, limits: NetworkData): number | undefined;
  /**
   * Pure. What publishing refuses of files that were looked into, beside what `media` says of each alone: kinds that
   * can't share a post, a form that takes another. In the draft's order; null: not to be had.
   */
  judgeFiles?(
    draft: LegDraft,
    limits: NetworkData,
    files: readonly (MediaFacts | null)[],
  ): readonly Problem[];
  /** What it takes of the draft's media files; absent: whatever there is. `limits` as for `check`. */
  media?(draft: LegDraft, limits: NetworkData): MediaTargets;
  /** What `check` and publishing name by its id; absent: nothing. */
  readonly rules?: RuleTable;
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
  /** Absent: `freshen` is called once a week. */
  readonly upkeep?: Upkeep;
  /** Uploads and containers: repeatable, nothing of it is visible. One status check per call, never a wait. */
  prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome>;
  /** The one visible call. */
  publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome>;
  /** Read-only: did an earlier `publish` have its effect? */
  reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome>;
  /** Ends the authorisation at the network; best effort. */
  revoke(credentials: NetworkData, instanceUrl: string | null, tools: NetworkTools): Promise<void>;
}
