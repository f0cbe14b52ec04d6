import type { Classified } from "../contract/answers.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import { noteEnded } from "./account-call.ts";
import { isOwnServer, LOGIN_HOST, resolveServer } from "./identity.ts";
import { type AsAccount, isOAuth, type Credentials } from "./state.ts";

/** What a server says of an account that it has no longer, or not for anybody. */
const ABOUT_ACCOUNT =
  /^(?:Account(?:Deactivated|Takedown|Suspended|NotFound)|Repo(?:Deactivated|Takendown|Suspended|NotFound))$/;
const SENTENCES = /account is deactivated|could not find repo\b/i;

/** Returns the server that the account's document names by now; undefined where that is the one it was linked at. */
export async function movedTo({ credentials, tools }: AsAccount): Promise<string | undefined> {
  const server = await resolveServer(credentials.did, tools);
  return typeof server === "string" && server !== credentials.pds ? server : undefined;
}

/** Returns whether the session goes on at another server, because the log-in host that made it is in front of both. */
export function staysBehind(credentials: Credentials, server: string): boolean {
  return !isOAuth(credentials) && credentials.service === LOGIN_HOST && isOwnServer(server);
}

/**
 * Returns the meaning of an unexpected answer for the account. A server that an account has left calls it deactivated, or
 * does not know it (https://atproto.com/guides/account-migration): to link it again finds it where it is, and so does
 * renewing a session that goes on there.
 */
export async function classifyFor(answer: HttpResponse, as: AsAccount): Promise<Classified> {
  const classified = classify(answer, as.tools.now());
  const { networkCode, note } = classified;
  const isSaid = networkCode === "InvalidRequest" && SENTENCES.test(note);
  if (!isSaid && !ABOUT_ACCOUNT.test(networkCode ?? "")) return classified;
  const server = await movedTo(as);
  if (server === undefined) return classified;
  const { remediation: _reactivate, ...said } = classified;
  if (!staysBehind(as.credentials, server))
    return { ...said, code: "connection_needs_reauth", effect: "refuse", isProof: true };
  await noteEnded(as);
  return { ...said, code: "network_unavailable", effect: "at_once", isProof: true };
}
