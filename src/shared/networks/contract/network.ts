import type * as z from "zod";
import type { FailedCheck } from "../../runtime/errors.ts";
import type { Shape } from "../../runtime/shape.ts";
import type { NetworkData, LegDraft } from "./draft.ts";
import type { RuleTable, Problem, TextMeasure } from "./rules.ts";
import type { LinkedAccount, LinkFlow } from "./link.ts";
import type { NetworkApp, NetworkSettings, ServiceIdentity } from "./settings.ts";
import type { NetworkTools } from "./tools.ts";
import type { TryLater, Rejection, CredentialsOutcome, LimitsOutcome } from "./outcome.ts";
import type { MediaFacts, MediaTargets, OptionPicture } from "./media.ts";
import type { FollowUpCall, PublishCall } from "./visible-call.ts";

/** An account whose check is due. */
export type CheckedAccount = Pick<LinkedAccount, "account" | "credentials" | "instanceUrl">;

/** Keeps an account that is not published to usable, and its limits current. Runs once a day at most. */
export interface AccountCheck {
  /** How many days an account may be unused before `freshen` and `probe` are called. With 0, they run every day. */
  readonly idleDaysMax: number;
  /** Makes a cheap read that needs the authorization. Absent if `freshen` shows as much. */
  probe?(
    checked: CheckedAccount,
    tools: NetworkTools,
  ): Promise<{ kind: "usable" } | TryLater | Rejection>;
  /** Returns the `limits` that the account would have if it were linked now. Absent if they never change. */
  readLimits?(checked: CheckedAccount, tools: NetworkTools): Promise<LimitsOutcome>;
}

/**
 * A JSON document that the service has to publish for a network at `/v1/connect/<network>/<file>`, such as the metadata
 * of an OAuth client or its public keys.
 */
export interface NetworkDocument {
  readonly file: string;
  /** How the API's reference describes the route. */
  readonly reference: {
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
  };
  /** Returns the document, or undefined when this registration has none, which is answered with 404. */
  make(app: NetworkApp, service: ServiceIdentity): Readonly<Record<string, unknown>> | undefined;
}

/** An authentic notice that a person has withdrawn an authorization. */
export interface WithdrawalNotice {
  /** `LinkedAccount.grantId` of that person's accounts. */
  readonly grantId: string;
  /** Identifies the notice: 40 hexadecimal digits that nobody can guess, and that are the same whenever it comes. */
  readonly key: string;
}

/** How a network reports that a person has withdrawn an authorization in the network's own settings. */
export interface WithdrawalNotices {
  /** Part of the addresses that are called. Networks that share one are distinguished by the app that signed. */
  readonly sender: string;
  readonly field: string;
  /** Returns the content of a notice, or the check that it failed. Pure. */
  read(signed: string, app: NetworkApp, now: Date): WithdrawalNotice | FailedCheck;
}

/**
 * A social network. Generic code never names one. It calls these steps, each of which may be repeated after a crash:
 * `begin` → `prepare` (until ready) → sent marker → `perform`. Before a second `perform` comes `find`, which says what
 * became of the first.
 */
export interface Network {
  /** The name in the registry, in requests and in rows, and part of its rules' ids. */
  readonly name: string;
  /** The name that end users see. */
  readonly title: string;
  /** Whether it needs a registration of the relay (`NetworkTools.app`). The default is no. */
  readonly needsApp?: boolean;
  /** Whether only the code and the settings name its hosts. By default, people choose their servers. */
  readonly hasOwnHosts?: true;
  /** Its settings, if it has any. */
  readonly settings?: NetworkSettings;
  /** The documents that the service publishes for it, if any. */
  readonly documents?: readonly NetworkDocument[];
  /** How it reports that a person has withdrawn an authorization, if it does. */
  readonly withdrawals?: WithdrawalNotices;
  /** Returns the date until which a version of its API (`NetworkApp.version`) is supported. Absent if unknown. */
  versionEnd?(version: string): Date;
  /** The schema of `platformOptions.<name>`: a strict object. */
  readonly options: Shape<z.ZodType<Readonly<Record<string, unknown>>>>;
  readonly link: LinkFlow;
  /**
   * Returns the optional permissions (not needed for linking or publishing) that an authorization with these scopes
   * lacks. Absent when there are none. Pure.
   */
  missingScopes?(scopes: readonly string[], app: NetworkApp | undefined): readonly string[];
  measure(draft: LegDraft, limits: NetworkData): TextMeasure;
  /**
   * Returns the daily quota of the account that the draft counts towards, such as `posts`. Absent when there is none.
   * `remote` is what `prepare` made of it, which may show more than the draft alone.
   */
  quotaOf?(draft: LegDraft, remote?: NetworkData): string | undefined;
  /** Returns the quota that the network itself states for the account, which may be less than the settings allow. */
  quotaMaxOf?(kind: string, limits: NetworkData): number | undefined;
  /**
   * Returns why publishing refuses the files together: kinds that can't share a post, or a form that needs another
   * kind. `media` covers each file alone. `files` are in the draft's order, null if it could not be read. Pure.
   */
  checkFiles?(
    draft: LegDraft,
    limits: NetworkData,
    files: readonly (MediaFacts | null)[],
  ): readonly Problem[];
  /**
   * Returns the limit of an alternative text in UTF-16 units. Absent for any length. Longer ones are cut before a step
   * gets the draft, and `check` warns of it. `limits` as for `check`.
   */
  altTextMax?(limits: NetworkData): number;
  /** Returns the media that it accepts of the draft's files. Absent if it accepts any. `limits` as for `check`. */
  media?(draft: LegDraft, limits: NetworkData): MediaTargets;
  /**
   * Returns the pictures that the network's own options name, such as a cover, as far as the post may show them. Each is
   * read, cleaned and made to fit like a file of the post. `limits` as for `check`. Pure.
   */
  pictures?(draft: LegDraft, limits: NetworkData): readonly OptionPicture[];
  /** The rules that `check` and publishing name by id, if any. */
  readonly rules?: RuleTable;
  /** Returns the rules that the draft breaks. `limits` is `{}` if the account is not known. Pure. */
  check(draft: LegDraft, limits: NetworkData): readonly Problem[];
  /**
   * Returns what is chosen for a leg before its first attempt, such as record key and creation time. `prepare` may
   * choose again while the leg is `isUnpublished`.
   */
  begin(leg: { readonly key: string; readonly now: Date }): NetworkData;
  /** Renews the stored credentials if they are about to end. Called under a lease. */
  freshen(
    credentials: NetworkData,
    instanceUrl: string | null,
    tools: NetworkTools,
  ): Promise<CredentialsOutcome>;
  /** The check of an idle account. By default `freshen` is called once a week. */
  readonly accountCheck?: AccountCheck;
  readonly calls: NetworkCalls;
  /** Revokes the authorization at the network, if possible. */
  revoke(credentials: NetworkData, instanceUrl: string | null, tools: NetworkTools): Promise<void>;
}

export type CheckFiles = NonNullable<Network["checkFiles"]>;

/** The visible calls by kind. The network lacks a kind that is absent. */
interface NetworkCalls {
  readonly publish: PublishCall;
  /** Writes a first comment below the post, as its author. */
  readonly comment?: FollowUpCall;
  /** Removes the post. A post that the network no longer has counts as removed. */
  readonly remove?: FollowUpCall;
}

/** Makes the network that a folder defines: its rules, its way of linking, and its calls. */
export function network<const Name extends string, const Of extends Omit<Network, "name">>(
  name: Name,
  rest: Of,
) {
  return { name, ...rest };
}
