import { LINK_ERRORS, type LinkErrorCode } from "../networks/network.ts";

const PAGE_PROBLEMS = [
  "unpaid",
  "too_many_attempts",
  "not_available",
  "nothing_linked",
  "nothing_chosen",
  "step_over",
] as const;
export type LinkProblem = LinkErrorCode | (typeof PAGE_PROBLEMS)[number];

/** What the end user reads when something did not work: what happened, and what to do about it. */
const MESSAGES: Readonly<Record<LinkProblem, (network: string) => string>> = {
  wrong_credentials: (network) =>
    `${network} did not accept this name and password. Check both for typing errors and try again.`,
  app_password_needed: (network) =>
    `This has to be an app password, not the password you log in with. Make one in the settings of ${network} and enter it here.`,
  account_not_found: (network) =>
    `${network} does not know this account. Check the spelling, including the part after the last dot.`,
  account_restricted: (network) =>
    `${network} has restricted this account. Log in at ${network}, do what it asks for, then come back and try again.`,
  instance_unreachable: () =>
    "This server could not be reached. Check the address; if it is right, try again in a few minutes.",
  instance_unsupported: (network) =>
    `This server does not answer the way ${network} servers do. Check the address, or use an account on another server.`,
  access_denied: (network) =>
    `You did not give permission at ${network}, so nothing was connected. Start again if that was a mistake.`,
  permission_missing: (network) =>
    `A permission that is needed for posting was not given at ${network}. Start again and leave everything ticked.`,
  rate_limited: (network) =>
    `${network} wants a pause after so many attempts. Wait a few minutes, then try again.`,
  network_unavailable: (network) =>
    `${network} is not answering at the moment. Nothing was connected; try again in a few minutes.`,
  account_kind_unsupported: (network) =>
    `${network} does not let other services publish for an account of this kind. Make it a professional one in its settings at ${network}, then come back and try again.`,
  nothing_to_choose: (network) =>
    `${network} showed us no page that you may publish for. Start again and leave every page ticked; if you have none, make one there or ask its owner to let you create content.`,
  input_invalid: () =>
    "Something is missing or not written as expected. Check the fields and try again.",
  unpaid: () =>
    "Accounts can't be connected right now. Nothing was changed; please tell the service that sent you here.",
  too_many_attempts: () =>
    "There were too many attempts on this page. Go back to the service that sent you here and start again.",
  not_available: (network) => `${network} can't be connected at the moment.`,
  nothing_linked: () => "No account is connected yet. Connect at least one first.",
  nothing_chosen: () => "Choose one of these first.",
  step_over: (network) =>
    `The visit to ${network} took too long or was used already. Start it again.`,
};

export function problemMessage(problem: LinkProblem, networkTitle: string): string {
  return MESSAGES[problem](networkTitle);
}

const PROBLEMS: readonly string[] = [...LINK_ERRORS, ...PAGE_PROBLEMS];

/** The problem that an address names: a known code, never a text of its own. */
export function readProblem(text: string | undefined): LinkProblem | undefined {
  // Safe: the list holds nothing but `LinkProblem`s.
  return text !== undefined && PROBLEMS.includes(text) ? (text as LinkProblem) : undefined;
}
