import { integer, rowCodec, textOrNull } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";

const PARTITION = "mail";
const ROW_KEY = "server";

/** How the mail server has answered all instances, in the table `housekeeping`. There is no row before it first fails. */
export const mailServerRow = rowCodec("mail server", {
  /** Since when no mail is sent. Null while mails are sent. */
  failingSince: textOrNull(),
  /** When the next mail may be tried. Only then is one, by one process. */
  probeAt: textOrNull(),
  /** How many mails in a row were tried and met the same. */
  probes: integer(),
  /** The last mail that met it. The next one is another mail, if there is one. */
  lastMail: textOrNull(),
  step: textOrNull(),
  answer: textOrNull(),
  /** When the server last accepted a mail after it had failed. Mails that it refused before don't wait any longer. */
  recoveredAt: textOrNull(),
});

export type MailServerState = ReturnType<typeof mailServerRow.decode>;

export interface StoredMailServer {
  readonly state: MailServerState;
  readonly etag: string | undefined;
}

const WORKING: MailServerState = {
  failingSince: null,
  probeAt: null,
  probes: 0,
  lastMail: null,
  step: null,
  answer: null,
  recoveredAt: null,
};

/** Stores what all instances know of the mail server. A damaged row counts as none. */
export class MailServerStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async read(): Promise<StoredMailServer> {
    const stored = await this.#table.find(PARTITION, ROW_KEY);
    const state = stored && unlessDamaged(() => mailServerRow.decode(stored.row));
    return { state: state ?? WORKING, etag: stored?.etag };
  }

  /** Writes the state if nobody else has since it was read. Returns what is stored then, or undefined. */
  async write(
    before: StoredMailServer,
    change: Partial<MailServerState>,
  ): Promise<StoredMailServer | undefined> {
    const state = { ...before.state, ...change };
    const row = { ...mailServerRow.encode(state), rowKey: ROW_KEY };
    const etag =
      before.etag === undefined
        ? await this.#table.insertIfAbsent(PARTITION, row)
        : await this.#table.mergeIfUnchanged(PARTITION, row, before.etag);
    return etag === undefined ? undefined : { state, etag };
  }
}
