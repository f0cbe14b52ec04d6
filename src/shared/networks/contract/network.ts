import type * as z from "zod";
import type { Shape } from "../../runtime/shape.ts";
import type { NetworkData, LegDraft } from "./draft.ts";
import type { RuleTable, Problem, TextMeasure } from "./rules.ts";
import type { Account, LinkedAccount, LinkFlow } from "./link.ts";
import type { NetworkApp, NetworkSettings } from "./settings.ts";
import type { NetworkTools } from "./tools.ts";
import type {
  TryLater,
  Rejected,
  PrepareOutcome,
  PublishOutcome,
  ReconcileOutcome,
  CredentialsOutcome,
  LimitsOutcome,
} from "./outcome.ts";
import type { MediaFacts, MediaTargets } from "./media.ts";

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
