import type { Locale } from "../runtime/locale.ts";
import type { Words } from "./words/en.ts";

export type MailKind = keyof Words["mails"];

/** What a mail says, and to whom. */
export interface MailContent {
  readonly kind: MailKind;
  /** The address; "" for a mail that nobody gets, which is written so that known and unknown addresses cost the same. */
  readonly to: string;
  readonly locale: Locale;
  /** A one-time link, which the mail's button leads to. */
  readonly link?: string;
  readonly values?: MailValues;
  /** What happened, one after the other, and how much is not listed. */
  readonly list?: { readonly items: readonly MailValues[]; readonly more: number };
  /** Where its reader switches such mails off. */
  readonly off?: string;
  /** What customers wrote, such as the name of a platform. It is quoted, or left out. */
  readonly names?: Readonly<Record<"platform", string>>;
}

/** What is filled into the sentences of a mail. */
export type MailValues = Readonly<Record<string, string>>;
