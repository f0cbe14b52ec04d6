import type { NoticeSettings } from "../../../mail/mail.ts";

/** The texts of the page of one kind of link. */
interface KindWords {
  readonly title: string;
  readonly intro: string;
  readonly label: string;
  readonly hint: string;
  readonly button: string;
  readonly doneTitle: string;
  readonly done: string;
}

/** The texts of the pages behind one-time links, in one language. */
export interface PageWords {
  readonly kinds: Readonly<Record<"verify" | "reset" | "email" | "invitation", KindWords>>;
  /** The page that switches notices off. */
  readonly notices: {
    readonly title: string;
    readonly intro: string;
    readonly button: string;
    readonly doneTitle: string;
    readonly done: string;
    readonly invalid: string;
    readonly kinds: Readonly<Record<keyof NoticeSettings, string>>;
  };
  readonly invalidTitle: string;
  readonly invalid: string;
  /** An invitation that was accepted before. */
  readonly acceptedTitle: string;
  readonly accepted: string;
  /** The label of the address that the person signs in with. */
  readonly email: string;
  readonly wrongPassword: string;
  readonly badNewPassword: string;
  readonly tooManyTitle: string;
  readonly tooMany: string;
  readonly taken: string;
  readonly hasAccount: string;
  readonly suspended: string;
  readonly failedTitle: string;
  readonly failed: string;
}

export const en: PageWords = {
  kinds: {
    verify: {
      title: "Confirm your e-mail address",
      intro: "Enter the password that you signed up with. It shows that you asked for this.",
      label: "Password",
      hint: "",
      button: "Confirm address",
      doneTitle: "Address confirmed",
      done: "You can close this window.",
    },
    reset: {
      title: "Choose a new password",
      intro: "All your sessions end when you save it.",
      label: "New password",
      hint: "12 to 128 characters. Not a common password, and not made of your e-mail address or the name of your team or this service.",
      button: "Save password",
      doneTitle: "Password saved",
      done: "Log in with your new password. You can close this window.",
    },
    email: {
      title: "Confirm your new address",
      intro: "Enter your password. It shows that you asked for this.",
      label: "Password",
      hint: "",
      button: "Confirm address",
      doneTitle: "Address changed",
      done: "Log in with the new address from now on. You can close this window.",
    },
    invitation: {
      title: "Accept your invitation",
      intro: "You're joining {platform} at {service}. You will sign in as {email}.",
      label: "Password",
      hint: "12 to 128 characters. Not a common password, and not made of your e-mail address or the name of your team or this service.",
      button: "Accept invitation",
      doneTitle: "You've joined",
      done: "Log in with your e-mail address and this password. You can close this window.",
    },
  },
  notices: {
    title: "Switch these mails off?",
    intro:
      "No owner of your platform gets them then. An owner can switch them on again: PATCH /v1/platform/notices.",
    button: "Switch off",
    doneTitle: "Switched off",
    done: "Your platform's owners get no more of these mails. You can close this window.",
    invalid:
      "The link is damaged or older than 60 days, or you are no longer an owner of this platform.",
    kinds: {
      connectionNeedsReauth: "Mails about accounts that their owners have to link again",
      endpointDisabled: "Mails about webhook endpoints that were disabled",
      balanceLow: "Mails about a low balance",
      outcomeUnknown: "Mails about posts with an unknown outcome",
    },
  },
  invalidTitle: "This link doesn't work",
  invalid:
    "It was used, has expired, or was replaced by a newer one. If you have just used it, it worked: log in. Otherwise ask for a new link.",
  acceptedTitle: "You have joined already",
  accepted:
    "This invitation was accepted. Log in with your e-mail address and the password that you chose. If you no longer know the password, reset it where you log in.",
  email: "E-mail address",
  wrongPassword: "This password isn't right. Try again.",
  badNewPassword: "Choose a password of 12 to 128 characters that is hard to guess.",
  tooManyTitle: "Too many attempts",
  tooMany: "Wait a few minutes, then open the link again.",
  taken: "Somebody else signs in with this address.",
  hasAccount:
    "There's an account with this e-mail address already. Ask for an invitation to another address.",
  suspended: "The account of your team is suspended or closed. Ask the person who invited you.",
  failedTitle: "That didn't work",
  failed: "The service can't answer right now. Open the link again in a moment.",
};
