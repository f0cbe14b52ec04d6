import type { Locale } from "../runtime/locale.ts";
import type { MailWords } from "./mail-words.ts";

export type MailKind = keyof MailWords["mails"];

export interface MailContent {
  readonly kind: MailKind;
  /** The address. For "" no mail is sent: it is written so that known and unknown addresses cost the same. */
  readonly to: string;
  readonly locale: Locale;
  /** A one-time link, the target of the mail's button. */
  readonly link?: string;
  readonly values?: MailValues;
  /** What happened, item by item, and how many items are not listed. */
  readonly list?: { readonly items: readonly MailValues[]; readonly more: number };
  /** Where the reader can switch off mails of this kind. */
  readonly off?: string;
  /** Text that customers wrote, such as the name of a platform. It is quoted or left out. */
  readonly names?: Readonly<Record<"platform", string>>;
}

/** Values for the placeholders in a mail's sentences. */
export type MailValues = Readonly<Record<string, string>>;
