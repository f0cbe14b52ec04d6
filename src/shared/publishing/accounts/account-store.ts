import * as z from "zod";
import type { NetworkName } from "../../networks/networks.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import { shape } from "../../runtime/shape.ts";
import { longJson, rowCodec, text } from "../../runtime/storage/codec.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { idBefore } from "../../runtime/ids.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { PostRef } from "../post.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** An account of a network, shared by all profiles and platforms that link it. */
export interface NetworkAccount {
  readonly network: NetworkName;
  readonly accountId: string;
}

/** The leg that has claimed a text of an account. Its outcome decides whether the claim still counts. */
export interface TextClaim {
  readonly ref: PostRef;
  readonly legKey: string;
}

export interface StoredTextClaim extends TextClaim {
  readonly etag: string;
}

export interface QuotaUse {
  readonly used: number;
  /** When the oldest use stops counting, or null when there is none. */
  readonly resetsAt: string | null;
}

interface Use {
  readonly leg: string;
  readonly at: string;
}

/** The leg that published a text to an account, or is about to. */
export const recentTextRow = rowCodec("recent text", {
  platformId: text(),
  profileId: text(),
  postId: text(),
  legKey: text(),
});

const usesForm = shape((): z.ZodType<readonly Use[]> =>
  z.array(z.looseObject({ leg: z.string(), at: z.string() })),
);

/** The uses of an account's quota by legs. */
export const quotaRow = rowCodec("quota", { uses: longJson(usesForm) });

const accountPartition = ({ network, accountId }: NetworkAccount) =>
  `${network}|${sha256Hex(accountId)}`;
const TEXTS = "T|";
const textKey = (textHash: string) => TEXTS + textHash;
const quotaKey = (kind: string) => `Q|${kind}`;

function recent(uses: readonly Use[], now: Date): Use[] {
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  return uses.filter(({ at }) => at > since);
}

/**
 * Stores what was recently published to an account (table `accounts`): texts of 48 hours, and a rolling day's quota.
 */
export class AccountStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async findText(account: NetworkAccount, textHash: string): Promise<StoredTextClaim | undefined> {
    const stored = await this.#table.find(accountPartition(account), textKey(textHash));
    return stored === undefined ? undefined : toClaim(stored.row, stored.etag);
  }

  /** Claims a text for a leg, instead of `instead` if given. Returns false when another leg's claim came first. */
  async claimText(
    account: NetworkAccount,
    textHash: string,
    claim: TextClaim,
    instead: StoredTextClaim | undefined,
  ): Promise<boolean> {
    const { ref, legKey } = claim;
    const row = { ...recentTextRow.encode({ ...ref, legKey }), rowKey: textKey(textHash) };
    const partition = accountPartition(account);
    const written =
      instead === undefined
        ? await this.#table.insertIfAbsent(partition, row)
        : await this.#table.replaceIfUnchanged(partition, row, instead.etag);
    return written !== undefined;
  }

  /** Lists a page of all accounts' texts that were claimed by posts before the time. Reads the whole table. */
  async listTextsBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "postId", time: idBefore("post", time.getTime()) };
    const page = { from: TEXTS, before: afterPrefix(TEXTS), olderThan };
    const { rows, next } = await this.#table.select(page, after);
    const texts = rows.map(({ partitionKey, row, etag }) => {
      const claim = unlessDamaged(() => toClaim(row, etag));
      // Safe: `accountPartition` begins with a network's name.
      const network = partitionKey.split("|")[0] as NetworkName;
      return claim && { partitionKey, rowKey: row.rowKey, network, claim };
    });
    return { texts: texts.filter((text) => text !== undefined), next };
  }

  /** Removes a listed text, unless another leg has claimed it since. */
  async removeText(text: {
    readonly partitionKey: string;
    readonly rowKey: string;
    readonly claim: StoredTextClaim;
  }): Promise<boolean> {
    return this.#table.delete(text.partitionKey, text.rowKey, text.claim.etag);
  }

  /** Removes a page of the texts that a profile's posts have claimed. Reads the whole table. */
  removeTextsOfProfile(profileId: string, after: string | undefined) {
    return this.#table.removeSelected({ property: "profileId", values: [profileId] }, after);
  }

  async readQuota(account: NetworkAccount, kind: string, now: Date): Promise<QuotaUse> {
    const stored = await this.#table.find(accountPartition(account), quotaKey(kind));
    const uses = stored === undefined ? [] : recent(quotaRow.decode(stored.row).uses, now);
    const [oldest] = uses;
    const resetsAt =
      oldest === undefined ? null : new Date(Date.parse(oldest.at) + DAY_MS).toISOString();
    return { used: uses.length, resetsAt };
  }

  /** Uses the quota once for a leg, even if called again. Returns false when the rolling day's quota is used up. */
  claimQuota(
    account: NetworkAccount,
    quota: { readonly kind: string; readonly limit: number },
    legKey: string,
    now: Date,
  ): Promise<boolean> {
    return this.#changeUses(account, quota.kind, (uses) => {
      const counting = recent(uses, now);
      if (counting.some(({ leg }) => leg === legKey)) return { answer: true };
      if (counting.length >= quota.limit) return { answer: false };
      return { answer: true, uses: [...counting, { leg: legKey, at: now.toISOString() }] };
    });
  }

  /** Gives back the use of the quota by a leg that published nothing. */
  async returnQuota(account: NetworkAccount, kind: string, legKey: string): Promise<void> {
    await this.#changeUses(account, kind, (uses) => {
      const rest = uses.filter(({ leg }) => leg !== legKey);
      return rest.length === uses.length ? { answer: true } : { answer: true, uses: rest };
    });
  }

  async #changeUses(
    account: NetworkAccount,
    kind: string,
    change: (uses: readonly Use[]) => { readonly answer: boolean; readonly uses?: readonly Use[] },
  ): Promise<boolean> {
    let answered = false;
    await this.#table.change(accountPartition(account), quotaKey(kind), (stored) => {
      const { answer, uses } = change(stored === undefined ? [] : quotaRow.decode(stored.row).uses);
      answered = answer;
      return uses === undefined
        ? { kind: "leave" }
        : { kind: "keep", columns: quotaRow.encode({ uses }) };
    });
    return answered;
  }
}

function toClaim(row: Row, etag: string): StoredTextClaim {
  const { legKey, ...ref } = recentTextRow.decode(row);
  return { ref, legKey, etag };
}
