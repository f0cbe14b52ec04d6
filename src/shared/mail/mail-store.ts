import { randomToken, seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import { integer, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row, StoredRow } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import type { MailContent } from "./mail-content.ts";
import { NOTICES_ROW, toNotices, type StoredNotices } from "./notice-store.ts";

/** A mail to be sent, in the partition of its reader's platform. */
export const mailRow = rowCodec("mail", {
  /** The content with its address and link, as sealed JSON. */
  sealed: text(),
  createdAt: text(),
  /** The mail is of no use after this time. */
  until: text(),
  notBefore: text(),
  attempts: integer(),
  /** How often the mail was handed over without an answer, the attempt that is under way included. */
  cutOffs: integer(),
  /** When the server refused it for a reason that may be about all mails. Null otherwise. */
  heldAt: textOrNull(),
});

const PREFIX = "M|";
const ID_BYTES = 16;
const PAGE_ROWS = 100;
/** A page with this many mails may be followed by more. */
export const FULL_PAGE = PAGE_ROWS - 1;

/** A platform's oldest mails, and the notices that wait to become mails. */
interface Outbox {
  readonly mails: readonly StoredMail[];
  readonly notices: StoredNotices;
}

/** A mail as it is stored, with the version for a conditional write. */
export interface StoredMail {
  readonly platformId: string;
  readonly rowKey: string;
  /** The id from which the `Message-ID` is made. */
  readonly id: string;
  /** Undefined when its data key is gone. */
  readonly content: MailContent | undefined;
  readonly createdAt: string;
  readonly until: string;
  readonly notBefore: string;
  readonly attempts: number;
  readonly cutOffs: number;
  readonly heldAt: string | null;
  readonly etag: string;
}

const mailBinding = (platformId: string, rowKey: string) => `mail|${platformId}|${rowKey}`;

/** Stores mails until they are sent. The rows are the truth; no queue contains mails. */
export class MailStore {
  readonly #core: Table;
  readonly #dataKeys: DataKeys;

  constructor(core: Table, dataKeys: DataKeys) {
    this.#core = core;
    this.#dataKeys = dataKeys;
  }

  /** Makes the row of a new mail, for the transaction that creates it. */
  rowOf(platformId: string, content: MailContent, at: { now: Date; until: Date }): Row {
    const createdAt = at.now.toISOString();
    const rowKey = `${PREFIX}${createdAt}|${randomToken(ID_BYTES)}`;
    const sealed = seal(JSON.stringify(content), mailBinding(platformId, rowKey), this.#dataKeys);
    const until = at.until.toISOString();
    const columns = { sealed, createdAt, until, notBefore: createdAt, attempts: 0, cutOffs: 0 };
    return { ...mailRow.encode({ ...columns, heldAt: null }), rowKey };
  }

  /** Stores mails that are written on their own. */
  async insert(platformId: string, rows: readonly Row[]): Promise<void> {
    if (rows.length > 0) await this.#core.insertAllIfAbsent(platformId, rows);
  }

  /** Lists the oldest mails of a platform, without damaged rows. */
  async list(platformId: string): Promise<readonly StoredMail[]> {
    return (await this.read(platformId)).mails;
  }

  /** Reads the oldest mails of a platform and the notices that wait, without damaged rows. */
  async read(platformId: string, limit = PAGE_ROWS): Promise<Outbox> {
    const before = afterPrefix(PREFIX);
    const range = { partitionKey: platformId, from: NOTICES_ROW, before, limit };
    const rows = await this.#core.list(range);
    const waiting = rows.find(({ row }) => row.rowKey === NOTICES_ROW);
    const notices = unlessDamaged(() => toNotices(waiting)) ?? toNotices(undefined);
    return { mails: this.#toMails(platformId, rows), notices };
  }

  /** Lists the mails of a platform after the given one, oldest first, without damaged rows. */
  async listAfter({ platformId, rowKey }: StoredMail): Promise<readonly StoredMail[]> {
    const [from, before] = [afterPrefix(rowKey), afterPrefix(PREFIX)];
    const range = { partitionKey: platformId, from, before, limit: PAGE_ROWS };
    return this.#toMails(platformId, await this.#core.list(range));
  }

  #toMails(platformId: string, rows: readonly StoredRow[]): readonly StoredMail[] {
    const ofMails = rows.filter(({ row }) => row.rowKey.startsWith(PREFIX));
    return ofMails.flatMap(({ row, etag }) => {
      const found = unlessDamaged(() => mailRow.decode(row));
      if (found === undefined) return [];
      const { sealed, ...times } = found;
      const { rowKey } = row;
      const opened = unseal(sealed, mailBinding(platformId, rowKey), this.#dataKeys);
      // Safe: `rowOf` has sealed it, and nobody else can.
      const content = opened === undefined ? undefined : (JSON.parse(opened) as MailContent);
      const id = rowKey.slice(rowKey.lastIndexOf("|") + 1);
      return [{ ...times, platformId, rowKey, id, content, etag }];
    });
  }

  /** Sets when the mail may be sent next. Returns undefined when another process has taken the mail. */
  async postpone(
    { platformId, rowKey, etag }: Pick<StoredMail, "platformId" | "rowKey" | "etag">,
    next: { readonly notBefore: Date } & Pick<StoredMail, "attempts" | "cutOffs" | "heldAt">,
  ): Promise<string | undefined> {
    const columns = { ...next, notBefore: next.notBefore.toISOString() };
    const row = { ...mailRow.encodePart(columns), rowKey };
    return await this.#core.mergeIfUnchanged(platformId, row, etag);
  }

  async remove({ platformId, rowKey }: Pick<StoredMail, "platformId" | "rowKey">): Promise<void> {
    await this.#core.delete(platformId, rowKey);
  }
}
