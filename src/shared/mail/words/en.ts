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

export const en: MailWords = {
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
    newLogIn: {
      subject: "New log-in to {service}",
      lines: [
        "Somebody logged in to your account at {service} with your password, from a device and a network that were not used before. Time: {time}. Address: {address}.",
        "If it was you, there is nothing to do. If it wasn't, ask for a new password on the log-in page now. That ends all sessions.",
      ],
    },
    wrongCodes: {
      subject: "Wrong codes at your log-in to {service}",
      lines: [
        "Somebody entered your password and then five wrong codes of your second factor. None of these codes let them in.",
        "If it wasn't you, they know your password. Change it now.",
      ],
    },
    secondFactorOn: {
      subject: "The second factor of your account at {service} is on",
      lines: [
        "Logging in to {service} now asks for a code of your authenticator app, too.",
        "If you didn't switch it on, ask for a new password on the log-in page now, and tell us.",
      ],
    },
    secondFactorOff: {
      subject: "The second factor of your account at {service} is off",
      lines: [
        "Logging in to {service} asks for nothing but the password now.",
        "If you didn't switch it off, ask for a new password on the log-in page now, and tell us.",
      ],
    },
    roleChanged: {
      subject: "{email} is now {role} at {service}",
      lines: [
        "The role of {email} on your platform is now: {role}. An owner may do everything. A member can't change users, keys, limits or notices.",
        "If no owner of your platform did this, tell us.",
      ],
    },
    ownerRemoved: {
      subject: "{email} is no longer an owner at {service}",
      lines: [
        "{email} was an owner of your platform and was removed. This address no longer signs in.",
        "If nobody of your platform did this, tell us.",
      ],
    },
    adminKeyMade: {
      subject: "An app_admin key was made at {service}",
      lines: [
        "The key {key} was made for the application {application}. It may do everything in this application.",
        "If nobody of your platform made it, revoke it now.",
      ],
    },
    connectionNeedsReauth: {
      subject: "Linked accounts need their owners",
      lines: [
        "Networks no longer accept the authorisation of these accounts. Nothing is published to them until their owners link them again.",
        "Send each owner a new link of the connect page.",
      ],
      item: "{at}: {network}, profile {profile}, connection {connection}",
    },
    endpointDisabled: {
      subject: "Webhook endpoints were disabled",
      lines: [
        "{service} sends nothing to these webhook endpoints any more.",
        "Fix the receiver, then make the endpoint active again. The list of events has what it missed.",
      ],
      item: "{at}: endpoint {endpoint}, application {application}: {reason}",
    },
    balanceLow: {
      subject: "Your balance at {service} is low",
      lines: [
        "The tokens that are available to your platform fell below {low}. When none are left, posts are refused.",
        "Buy tokens in time.",
      ],
      item: "{at}: {available} tokens available",
    },
    outcomeUnknown: {
      subject: "Posts ended with an unknown outcome",
      lines: [
        "The networks didn't tell whether they published these posts. The posts count as failed and are not sent again, so that none appears twice.",
        "Check the account. Retry a post only if it isn't there.",
      ],
      item: "{at}: {network}, post {post}, profile {profile}",
    },
    email: {
      subject: "Confirm your new e-mail address for {service}",
      lines: [
        "You asked to sign in to {service} with this address. Follow the link and enter your password. The link works for 7 days.",
        "If you didn't ask, don't follow it. Nothing happens then.",
      ],
      button: "Confirm address",
    },
    emailAsked: {
      subject: "Your e-mail address for {service} is about to change",
      lines: [
        "Somebody who knows your password asked to change the address of your account at {service}. It changes when the link sent to the new address is followed.",
        "If it wasn't you, change your password now. That ends the link.",
      ],
    },
    emailChanged: {
      subject: "Your e-mail address for {service} was changed",
      lines: [
        "Your account at {service} has another e-mail address now. This one no longer signs in.",
        "If you didn't change it, tell us.",
      ],
    },
    operatorReset: {
      subject: "An operator made a reset link for {email}",
      lines: [
        "An operator of {service} made a link that sets a new password for {email}. It works once, for 60 minutes.",
        "If nobody asked for it, tell us.",
      ],
    },
    platformClosed: {
      subject: "Your platform at {service} was closed",
      lines: [
        "An owner of your platform closed it. API keys, log-ins and linked accounts have ended, and scheduled posts are canceled. Everything is erased on {date} UTC, and unused tokens lapse.",
        "If it was a mistake, tell us before then: we can open the platform again. Its keys and linked accounts stay ended.",
      ],
    },
    platformReopened: {
      subject: "Your platform at {service} is open again",
      lines: [
        "An operator of {service} opened your closed platform again. Log in as before. API keys and linked accounts have ended: make new keys, and have the accounts linked again. Scheduled posts stay canceled.",
        "If none of your owners asked for it, tell us.",
      ],
    },
    platformEnding: {
      subject: "Your platform at {service} is about to be erased",
      lines: [
        "Your platform is closed. Everything is erased on {date} UTC, and unused tokens lapse. Nothing brings it back after that.",
        "If you want to keep it, tell us before then.",
      ],
    },
    invitation: {
      subject: "You're invited to {service}",
      lines: [
        "You're invited to join {platform} at {service}. Follow the link and choose a password. It works once, for 7 days.",
        "If you don't want to join, ignore this mail. Nothing happens then.",
      ],
      button: "Accept invitation",
    },
  },
  quote: "“{text}”",
  aTeam: "a team",
  values: {
    owner: "owner",
    member: "member",
    gone: "its receiver answered 410 Gone",
    abandoned: "nothing could be delivered for 5 days",
    unknown: "unknown",
  },
  more: "And {count} more.",
  footer: {
    sentBy: "Sent by {service}. This mail was made automatically. Nobody reads replies.",
    support: "Help: {url}",
    off: "Switch these mails off for your platform",
  },
};
