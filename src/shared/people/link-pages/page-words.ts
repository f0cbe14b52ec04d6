import type { NoticeSettings } from "../../mail/mail.ts";

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
  /** Below what was done, where no page comes next. */
  readonly close: string;
  /** The button that leads to the page where people log in. */
  readonly logIn: string;
  /** The button that leads to the service's own site. */
  readonly site: string;
  readonly invalidTitle: string;
  readonly invalid: string;
  /** An invitation that was accepted before. */
  readonly acceptedTitle: string;
  readonly accepted: string;
  /** Added where there is a page to log in. */
  readonly forgotten: string;
  /** The label of the address that the person logs in with. */
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
