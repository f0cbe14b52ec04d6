import type { LinkProblem } from "../link-problem.ts";

export const en = {
  skip: "Skip to content",
  logo: "Logo",
  problem: {
    title: "Error: {title}",
    general: "That did not work",
    at: "{network} was not connected",
    kept: "Your connection to {network} was not changed",
  },
  page: {
    title: "Connect your accounts",
    lead: "Choose the accounts that may be published to.",
    leadFor: "Choose the accounts that {brand} may publish to.",
    note: "Nothing is published from this page.",
    progress: "{linked} of {total} connected",
    linked: "{network} is connected.",
    done: "Done",
    doneHint: "You can connect more accounts, or finish here.",
    cancel: "Cancel",
    back: "Go back",
    backTo: "Back to {brand}",
    later: "You can close this window. The link keeps working until it expires.",
    goOn: "Continue connecting",
    accounts: "Connected accounts",
  },
  footer: {
    privacy: "Privacy",
    terms: "Terms",
    support: "Help",
    newTab: "(opens in a new tab)",
  },
  steps: {
    label: "Steps",
    network: "Choose a network",
    allow: "Allow access",
    done: "Done",
  },
  card: {
    linkedAs: "Connected as {name}",
    unlinked: "Not connected",
    attention: "Needs attention",
    again: "Connect {name} again. Posts that are waiting for it are published after that.",
    unavailable: "Not available at the moment.",
    leaves: "You log in to {network}, then come back here.",
    connect: "Connect {network}",
    continueAt: "Continue to {network}",
    reconnect: "Connect {network} again",
    partly: "A permission is missing",
    lacks:
      "Not every permission was given at {network}, so some features are off. Connect the account again and allow all of them.",
    another: "If you connect another account, it replaces this one.",
    otherWay: "Connect in another way",
  },
  about: {
    facebook: "For Facebook pages that you manage.",
    instagram: "For professional accounts: business or creator.",
  } as const satisfies Partial<Record<string, string>>,
  otherWays: {
    bluesky: "Use an app password instead",
  } as const satisfies Partial<Record<string, string>>,
  choice: {
    title: "Choose an account",
    lead: "Your login at {network} gives access to several accounts.",
    legend: "Which account do you want to connect?",
    cut: "Not all of your accounts fit on this page. If yours is missing, start again and select only that one at {network}.",
    submit: "Connect this account",
    back: "Back to all networks",
  },
  notices: {
    unknown: {
      title: "This link does not work",
      text: "It may be incomplete or out of date. Go back to the service that sent you here and start again.",
    },
    completed: {
      title: "You are done here",
      text: "Your accounts are connected, and this link can't be used again. To connect others, go back to the service that sent you here and start again.",
    },
    canceled: {
      title: "This was canceled",
      text: "Nothing more can be connected on this page. To go on, go back to the service that sent you here and start again.",
    },
    ended: {
      title: "This link has ended",
      text: "The service that sent you here has withdrawn it, and nothing more can be connected on this page. Accounts that you connected stay connected. To connect others, start again at that service.",
    },
    expired: {
      title: "This page has expired",
      text: "It was open for too long. Accounts that you connected stay connected. To connect others, go back to the service that sent you here and start again.",
    },
    open: {
      title: "This isn't possible right now",
      text: "Your accounts can't be connected at the moment. Please contact the service that sent you here.",
    },
    allSet: {
      title: "All set",
      text: "Your accounts are connected. You can close this window.",
    },
    paused: {
      title: "Nothing is connected yet",
      text: "You can close this window. Open your link again to connect an account later.",
    },
    foreign: {
      title: "This did not come from our page",
      text: "For your safety, nothing was done. Open your link again and continue from there.",
    },
    unreadable: {
      title: "This form could not be read",
      text: "It was too large or arrived damaged, so nothing was done. Open your link again and continue from there.",
    },
    deletionReceived: {
      title: "We have received your request",
      text: "Your accounts are being disconnected, and their access data is being deleted.",
    },
    deletionDone: {
      title: "Your accounts are disconnected",
      text: "Their access data has been deleted.",
    },
    usedStep: {
      title: "This step is over",
      text: "It was already used, or it took too long. Open your link again to see what is connected, and continue from there.",
    },
    otherBrowser: {
      title: "Please stay in one browser",
      text: "You started in another browser, or this one doesn't keep cookies. For your safety, nothing was connected. Open your link in one browser and complete all steps there.",
    },
    outage: {
      title: "Please try again",
      text: "We couldn't do this just now. Reload the page in a minute; nothing is lost.",
    },
    failure: {
      title: "Something went wrong",
      text: "The error is on our side and was recorded ({id}). Open your link again to see what is connected.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} did not accept this app password for this account. Check it for typing errors, or create a new one.",
    app_password_needed:
      "This is not an app password. Create one in the settings of {network} and enter it here.",
    account_moved:
      "This account has moved to another server. Enter its handle instead of the e-mail address.",
    account_not_found:
      "{network} does not know this account. Check the spelling, including the part after the last dot.",
    account_restricted:
      "{network} has restricted this account. Log in to {network} and follow the instructions there, then come back and try again.",
    instance_unreachable:
      "This server could not be reached. Check the address. If it is correct, try again in a few minutes.",
    instance_protected:
      "The protection in front of this server turns other services away. Try again later, or ask the server’s administrator to let its API through.",
    instance_unsupported:
      "This server does not answer the way {network} servers do. Check the address, or ask the server’s administrator. An account on another server works too.",
    access_denied: "You did not give permission at {network}. Start again if that was a mistake.",
    other_account:
      "You gave permission for a different account. Log in to {network} with the account entered here, or enter the other one.",
    permission_missing:
      "A permission that is needed for posting was not given at {network}. Start again and leave everything selected.",
    rate_limited: "There were too many attempts at {network}. Wait a few minutes, then try again.",
    service_limited:
      "The service that sent you here can’t connect more accounts at {network} today. Your account is not the cause. Try again tomorrow.",
    service_refused:
      "{network} doesn’t let the service that sent you here connect this account at the moment. Please tell that service.",
    network_unavailable: "{network} is not answering at the moment. Try again in a few minutes.",
    account_kind_unsupported:
      "{network} does not let other services publish for this kind of account. Switch to a professional account in the settings of {network}, then come back and try again.",
    nothing_to_choose:
      "{network} did not list any page that you can publish to. Start again and leave every page selected. If you have no page, create one there, or ask a page’s admin to let you create content.",
    input_invalid: "This is missing or not in the expected format. Check it and try again.",
    unpaid:
      "Accounts can't be connected right now. Nothing was changed. Please tell the service that sent you here.",
    too_many_attempts:
      "There were too many attempts on this page. Go back to the service that sent you here and start again.",
    not_available: "{network} can't be connected at the moment.",
    nothing_linked: "No account is connected yet. Connect at least one first.",
    nothing_chosen: "Choose an account first.",
    step_over: "This step at {network} took too long or was already used. Start again.",
  } as const satisfies Record<LinkProblem, string>,
} as const;

/** The English file defines the texts. The compiler finds texts that another language lacks. */
type Sentences<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends string ? string : Sentences<Part[Name]>;
};

export interface FieldWords {
  readonly label: string;
  readonly hint: string;
  readonly choices?: Readonly<Record<string, string>>;
}

export interface Words extends Sentences<typeof en> {
  /** Texts of the networks' forms, by `network.field`. The networks themselves have the English ones. */
  readonly fields?: Readonly<Record<string, FieldWords>>;
}
