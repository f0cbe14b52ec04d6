import type { ConnectionsDeps } from "../deps.ts";
import type { BrowserAnswer, BrowserRequest } from "./browser.ts";
import { plainNotice } from "./visit.ts";

/** Answers GET of the page that a person is given who asked for deletion at a network. */
export async function showDeletion(
  services: ConnectionsDeps,
  request: BrowserRequest,
  code: string,
): Promise<BrowserAnswer> {
  const found = /^[0-9a-f]{40}$/.test(code) ? await services.withdrawals.find(code) : undefined;
  if (found === undefined) return plainNotice(request, "unknown", 404);
  return plainNotice(request, found.isOpen ? "deletionReceived" : "deletionDone", 200);
}
