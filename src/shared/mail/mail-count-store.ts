import { comparedEmail } from "../runtime/email.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import type { Table } from "../runtime/storage/table.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const PER_HOUR = 3;

/** When mails of a kind were sent to an address. The partition key is a hash of the address. */
export const mailCountRow = rowCodec("mail count", {
  times: text(),
  lastAt: text(),
});

/** Stores how many mails an address got recently, without storing the address. */
export class MailCountStore {
  readonly #emails: Table;

  constructor(emails: Table) {
    this.#emails = emails;
  }

  /** Counts a mail unless there were too many, and returns whether it may be sent. Always takes a read and a write. */
  async admit(email: string, kind: string, limit: { perDay: number; now: Date }): Promise<boolean> {
    const partitionKey = sha256Hex(comparedEmail(email));
    const now = limit.now.getTime();
    let isAdmitted = false;
    await this.#emails.change(partitionKey, `M|${kind}`, (stored) => {
      const times = stored === undefined ? "" : mailCountRow.decode(stored.row).times;
      const sent = times.split(",").filter((at) => at !== "" && Date.parse(at) > now - DAY_MS);
      const lately = sent.filter((at) => Date.parse(at) > now - HOUR_MS).length;
      isAdmitted = lately < PER_HOUR && sent.length < limit.perDay;
      if (!isAdmitted) return { kind: "leave" };
      const at = limit.now.toISOString();
      const columns = mailCountRow.encode({ times: [...sent, at].join(","), lastAt: at });
      return { kind: "keep", columns };
    });
    return isAdmitted;
  }

  async removeBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "lastAt", time: time.toISOString() };
    return await this.#emails.removeSelected({ olderThan }, after);
  }
}
