import { LINK_ERRORS, type LinkErrorCode } from "../../networks/contract/link.ts";

const PAGE_PROBLEMS = [
  "unpaid",
  "too_many_attempts",
  "not_available",
  "nothing_linked",
  "nothing_chosen",
  "step_over",
] as const;

/** Why nothing was linked. Every language has a text for each, with what happened and what to do. */
export type LinkProblem = LinkErrorCode | (typeof PAGE_PROBLEMS)[number];

const LINK_PROBLEMS: readonly LinkProblem[] = [...LINK_ERRORS, ...PAGE_PROBLEMS];

/** Reads the problem that an address names. Only known codes are accepted, so that nobody can choose the text. */
export function readProblem(text: string | undefined): LinkProblem | undefined {
  return LINK_PROBLEMS.find((problem) => problem === text);
}
