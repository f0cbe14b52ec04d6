import type { LinkProblem } from "../link-problem.ts";

export const en = {
  skip: "Skip to content",
  logo: "Logo",
  problem: {
    title: "Error: {title}",
    general: "That did not work",
    at: "{network} was not connected",
    goTo: "Go to {network}",
  },
  page: {
    title: "Connect your accounts",
    lead: "Choose the accounts that may be published to.",
    leadFor: "Choose the accounts that {brand} may publish to.",
    note: "Nothing is published from this page.",
    progress: "{linked} of {total} connected",
    linked: "{network} is connected.",
    done: "Done",
    doneHint: "Connect more accounts, or press “Done” to finish.",
    cancel: "Cancel",
    back: "Go back",
    backTo: "Back to {brand}",
  },
  steps: {
    label: "Steps",
    network: "Choose a network",
    allow: "Allow access",
    done: "Done",
  },
  card: {
    linked: "Connected",
    linkedAs: "Connected as {name}",
    unlinked: "Not connected",
    attention: "Needs attention",
    again: "{name} has to be connected again. Posts that are waiting for it are published then.",
    unavailable: "Not available at the moment.",
    leaves: "You log in at {network} and come back here.",
    connect: "Connect {network}",
    continueAt: "Continue at {network}",
    reconnect: "Connect {network} again",
    another: "Connect another account instead",
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
    lead: "{network} lets you publish for several.",
    legend: "Which one should be connected?",
    cut: "There are more than are shown here. If yours is missing, start again and select only that one at {network}.",
    submit: "Connect this one",
    back: "Back to all networks",
  },
  notices: {
    unknown: {
      title: "This link does not work",
      text: "It may be incomplete or out of date. Go back to the service that sent you here and start again.",
    },
    completed: {
      title: "You are done here",
      text: "This page was used already and your accounts are connected. To connect others, start again where you came from.",
    },
    canceled: {
      title: "This was canceled",
      text: "Nothing more can be connected on this page. To go on, start again where you came from.",
    },
    ended: {
      title: "This link has ended",
      text: "The service that sent you here has withdrawn it, and nothing more can be connected on this page. Accounts that were connected stay connected; for others, start again where you came from.",
    },
    expired: {
      title: "This page has expired",
      text: "It was open for too long. Accounts that were connected stay connected; for others, start again where you came from.",
    },
    open: {
      title: "This can't be done now",
      text: "Accounts can't be connected for you at the moment. Please ask the service that sent you here.",
    },
    allSet: {
      title: "All set",
      text: "Your accounts are connected. You can close this window.",
    },
    nothing: {
      title: "Nothing was connected",
      text: "You left without connecting an account. You can close this window.",
    },
    foreign: {
      title: "This did not come from our page",
      text: "For your safety nothing was done. Open the link you were given again and go on from there.",
    },
    unreadable: {
      title: "This form could not be read",
      text: "It held more than this page can take, or arrived damaged; nothing was done. Open the link you were given again and go on from there.",
    },
    deletionReceived: {
      title: "We have received your request",
      text: "Your accounts are being disconnected, and their access data deleted.",
    },
    deletionDone: {
      title: "Your accounts are disconnected",
      text: "Their access data has been deleted.",
    },
    usedStep: {
      title: "This step is over",
      text: "It was used already or took too long. Open the link you were given again to see what is connected, and go on from there.",
    },
    otherBrowser: {
      title: "Please stay in one browser",
      text: "This was started in another browser, or this one keeps no cookies. For your safety nothing was connected. Open the link you were given in one browser and go through all steps there.",
    },
    outage: {
      title: "Please try again",
      text: "We could not do this right now. Reload the page in a minute; nothing is lost.",
    },
    failure: {
      title: "Something went wrong",
      text: "This is our fault and was recorded ({id}). Open the link you were given again to see what is connected.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} did not accept this name and password. Check both for typing errors and try again.",
    app_password_needed:
      "This has to be an app password, not the password you log in with. Make one in the settings of {network} and enter it here.",
    account_moved:
      "This account has moved to another server. Enter its handle here, not the e-mail address.",
    account_not_found:
      "{network} does not know this account. Check the spelling, including the part after the last dot.",
    account_restricted:
      "{network} has restricted this account. Log in at {network}, do what it asks for, then come back and try again.",
    instance_unreachable:
      "This server could not be reached. Check the address; if it is right, try again in a few minutes.",
    instance_unsupported:
      "This server does not answer the way {network} servers do. Check the address, or use an account on another server.",
    access_denied:
      "You did not give permission at {network}, so nothing was connected. Start again if that was a mistake.",
    other_account:
      "You gave permission for another account than the one you entered, so nothing was connected. Log in at {network} with that one, or enter the other name here.",
    permission_missing:
      "A permission that is needed for posting was not given at {network}. Start again and leave everything ticked.",
    rate_limited:
      "{network} wants a pause after so many attempts. Wait a few minutes, then try again.",
    network_unavailable:
      "{network} is not answering at the moment. Nothing was connected; try again in a few minutes.",
    account_kind_unsupported:
      "{network} does not let other services publish for an account of this kind. Make it a professional one in its settings at {network}, then come back and try again.",
    nothing_to_choose:
      "{network} showed us no page that you may publish for. Start again and leave every page ticked; if you have none, make one there or ask its owner to let you create content.",
    input_invalid:
      "Something is missing or not written as expected. Check the fields and try again.",
    unpaid:
      "Accounts can't be connected right now. Nothing was changed; please tell the service that sent you here.",
    too_many_attempts:
      "There were too many attempts on this page. Go back to the service that sent you here and start again.",
    not_available: "{network} can't be connected at the moment.",
    nothing_linked: "No account is connected yet. Connect at least one first.",
    nothing_chosen: "Choose one of these first.",
    step_over: "The visit to {network} took too long or was used already. Start it again.",
  } as const satisfies Record<LinkProblem, string>,
} as const;

/** The English file defines the texts. The compiler finds what another language leaves out. */
type Sentences<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends string ? string : Sentences<Part[Name]>;
};

export interface FieldWords {
  readonly label: string;
  readonly hint: string;
  readonly choices?: Readonly<Record<string, string>>;
}

export interface Words extends Sentences<typeof en> {
  /** Texts of the networks' forms, by `network.field`. The English ones are in the networks themselves. */
  readonly fields?: Readonly<Record<string, FieldWords>>;
}
