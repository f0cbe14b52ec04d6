import type { ParsedMail } from "mailparser";

/** As many as a page shows; older ones are forgotten. */
const MAILS_MAX = 200;

/** A mail as the mail server received it. */
export interface ReceivedMail {
  readonly id: string;
  readonly at: string;
  /** The addresses of the envelope. */
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
}

/** A mail as its readers see it. */
export interface ReadMail extends Omit<ReceivedMail, "raw"> {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: readonly string[];
  /** Addresses of the text part, in their order. */
  readonly links: readonly string[];
}

/** Loaded when the first mail is read: an idle start does without it. */
async function parse(raw: Buffer): Promise<ParsedMail> {
  const { simpleParser } = await import("mailparser");
  return await simpleParser(raw, { skipTextLinks: true, skipTextToHtml: true });
}

/** The mails that the mail server of a local run received. */
export class Mailbox {
  #mails: ReceivedMail[] = [];
  #count = 0;

  add(mail: Omit<ReceivedMail, "id" | "at">): void {
    this.#count += 1;
    const received = { ...mail, id: String(this.#count), at: new Date().toISOString() };
    this.#mails = [...this.#mails, received].slice(-MAILS_MAX);
  }

  clear(): void {
    this.#mails = [];
  }

  /** Returns the mails to an address, or all, oldest first. */
  async list(to?: string): Promise<readonly ReadMail[]> {
    const found = this.#mails.filter((mail) => to === undefined || mail.to.includes(to));
    return await Promise.all(found.map(read));
  }

  async find(id: string): Promise<ReadMail | undefined> {
    const found = this.#mails.find((mail) => mail.id === id);
    return found === undefined ? undefined : await read(found);
  }
}

async function read({ raw, ...mail }: ReceivedMail): Promise<ReadMail> {
  const { subject = "", text = "", html, headerLines } = await parse(raw);
  return {
    ...mail,
    subject,
    text,
    html: typeof html === "string" ? html : "",
    headers: headerLines.map(({ line }) => line),
    links: text.match(/https?:\/\/\S+/g) ?? [],
  };
}
