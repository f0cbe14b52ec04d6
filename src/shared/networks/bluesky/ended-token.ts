import { createHash } from "node:crypto";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { Credentials } from "./credentials.ts";
import { accessTokenOf } from "./credentials.ts";
import { classify } from "./errors.ts";

/**
 * A server may end a token before its time. Publishing can't renew it, as only `freshen` has its outcome stored, so the
 * refused token is noted for `freshen` to find.
 */
export async function noteEndedToken(
  answer: HttpResponse | HttpFailure,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<void> {
  if (answer instanceof HttpFailure || answer.status === 200) return;
  if (classify(answer, tools.now()).effect !== "at_once") return;
  await tools.hosts.save(credentials.did, { endedToken: digestOf(credentials) });
}

export async function isTokenEnded(
  credentials: Credentials,
  tools: NetworkTools,
): Promise<boolean> {
  const noted = await tools.hosts.find(credentials.did);
  return noted?.["endedToken"] === digestOf(credentials);
}

export async function forgetEndedToken({ did }: Credentials, tools: NetworkTools): Promise<void> {
  await tools.hosts.forget(did);
}

function digestOf(credentials: Credentials): string {
  return createHash("sha256").update(accessTokenOf(credentials)).digest("base64url");
}
