/** What a mail says. `{link}` is a line of its own under the text, and the button in HTML. */
export interface MailText {
  readonly subject: string;
  readonly lines: readonly string[];
  readonly button?: string;
}

/** The texts of mails in one language. */
export interface Words {
  readonly mails: {
    readonly verify: MailText;
    readonly reset: MailText;
    readonly passwordChanged: MailText;
  };
  readonly footer: {
    /** Under every mail. */
    readonly sentBy: string;
    /** Where there is a support page. */
    readonly support: string;
  };
}

export const en: Words = {
  mails: {
    verify: {
      subject: "Confirm your e-mail address for {service}",
      lines: [
        "This address was used to sign up for {service}. Follow the link and enter the password you signed up with. The link works for 7 days.",
        "If you didn't sign up, don't follow it. Nothing happens then.",
      ],
      button: "Confirm address",
    },
    reset: {
      subject: "Choose a new password for {service}",
      lines: [
        "Somebody asked for a new password for your account at {service}. If it was you, follow the link. It works once, for 60 minutes.",
        "If it wasn't you, ignore this mail. Your password stays as it is.",
      ],
      button: "Choose a password",
    },
    passwordChanged: {
      subject: "Your password for {service} was changed",
      lines: [
        "The password of your account at {service} was changed. All other sessions have ended.",
        "If you didn't change it, ask for a new password on the log-in page now, and tell us.",
      ],
    },
  },
  footer: {
    sentBy: "Sent by {service}. This mail was made automatically. Nobody reads replies.",
    support: "Help: {url}",
  },
};
