import type { Classified } from "../contract/answers.ts";
import type { NetworkTools } from "../contract/tools.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import { resolveServer } from "./identity.ts";
import type { Credentials } from "./state.ts";

/** What a server says of an account that it has no longer, or not for anybody. */
const ABOUT_ACCOUNT =
  /^(?:Account(?:Deactivated|Takedown|Suspended|NotFound)|Repo(?:Deactivated|Takendown|Suspended|NotFound))$/;
const SENTENCES = /account is deactivated|could not find repo\b/i;

/** Returns whether the account's document names another server than the one it was linked at. */
export async function hasMoved(
  { did, pds }: Pick<Credentials, "did" | "pds">,
  tools: NetworkTools,
): Promise<boolean> {
  const server = await resolveServer(did, tools);
  return typeof server === "string" && server !== pds;
}

/**
 * Returns what an unexpected answer means for the account. A server that an account has left calls it deactivated, or
 * does not know it (https://atproto.com/guides/account-migration): to link it again finds it where it is.
 */
export async function classifyFor(
  answer: HttpResponse,
  credentials: Pick<Credentials, "did" | "pds">,
  tools: NetworkTools,
): Promise<Classified> {
  const classified = classify(answer, tools.now());
  const { networkCode, note } = classified;
  const isSaid = networkCode === "InvalidRequest" && SENTENCES.test(note);
  if (!isSaid && !ABOUT_ACCOUNT.test(networkCode ?? "")) return classified;
  if (!(await hasMoved(credentials, tools))) return classified;
  const { remediation: _reactivate, ...said } = classified;
  return { ...said, code: "connection_needs_reauth", effect: "refuse", isProof: true };
}
