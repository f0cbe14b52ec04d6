/** The text of a mail. `{link}` is a line of its own below the text, and a button in HTML. */
export interface MailText {
  readonly subject: string;
  readonly lines: readonly string[];
  readonly button?: string;
  /** One item of the list below the first line. */
  readonly item?: string;
}

export interface MailWords {
  readonly mails: {
    readonly verify: MailText;
    readonly reset: MailText;
    readonly passwordChanged: MailText;
    readonly newLogIn: MailText;
    readonly wrongCodes: MailText;
    readonly secondFactorOn: MailText;
    readonly secondFactorOff: MailText;
    readonly roleChanged: MailText;
    readonly ownerRemoved: MailText;
    readonly adminKeyMade: MailText;
    readonly connectionNeedsReauth: MailText;
    readonly endpointDisabled: MailText;
    readonly balanceLow: MailText;
    readonly outcomeUnknown: MailText;
    readonly email: MailText;
    readonly emailAsked: MailText;
    readonly emailChanged: MailText;
    readonly operatorReset: MailText;
    readonly platformClosed: MailText;
    readonly platformReopened: MailText;
    readonly platformEnding: MailText;
    readonly invitation: MailText;
  };
  /** Puts the name of a platform, which its owner wrote, in quotes. */
  readonly quote: string;
  /** Replaces a name of which nothing can be seen. */
  readonly aTeam: string;
  /** Values that are the same in every mail. */
  readonly values: Readonly<Record<"owner" | "member" | "gone" | "abandoned" | "unknown", string>>;
  /** Labels in the table of what happened. */
  readonly facts: Readonly<
    Record<
      | "account"
      | "time"
      | "address"
      | "email"
      | "role"
      | "key"
      | "application"
      | "date"
      | "platform"
      | "inviter",
      string
    >
  >;
  /** `{tell}` in a mail's lines: empty where there is no support page. */
  readonly tell: string;
  /** The button that leads to the page where people log in, in mails without a link of their own. */
  readonly logIn: string;
  readonly openAddress: string;
  /** Below a list that is incomplete. */
  readonly more: string;
  readonly footer: {
    /** At the end of every mail. */
    readonly sentBy: string;
    /** Added when there is a support page. */
    readonly support: string;
    /** At the end of mails that a platform can switch off. */
    readonly off: string;
  };
}
