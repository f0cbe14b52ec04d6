import { exchange } from "../contract/classified.ts";
import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { Credentials, OAuthCredentials } from "./credentials.ts";
import { isOAuth } from "./credentials.ts";
import { dpopNonces, proofHeaders } from "./dpop.ts";
import { noteEndedToken } from "./ended-token.ts";

/** A call to the account's own server with the account's authority, whichever way it was given. */
export async function callAsAccount(
  credentials: Credentials,
  request: HttpRequest,
  tools: NetworkTools,
): Promise<HttpResponse | HttpFailure> {
  const answer = isOAuth(credentials)
    ? await callWithProof(credentials, request, tools)
    : await exchange(tools, withHeaders(request, bearer(credentials.accessJwt)));
  await noteEndedToken(answer, credentials, tools);
  return answer;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A server that wants a nonce of its own in the proof says so before it does anything else. */
async function callWithProof(
  { session }: OAuthCredentials,
  request: HttpRequest,
  tools: NetworkTools,
): Promise<HttpResponse | HttpFailure> {
  const { origin } = new URL(request.url);
  const send = async (): Promise<HttpResponse | HttpFailure> => {
    const headers = await proofHeaders(session, request, tools.now());
    const answer = await exchange(tools, withHeaders(request, headers));
    const nonce = answer instanceof HttpFailure ? undefined : answer.headers["dpop-nonce"];
    if (nonce !== undefined) dpopNonces.set(origin, nonce);
    return answer;
  };
  const first = await send();
  return wantsNonce(first) ? await send() : first;
}

function wantsNonce(answer: HttpResponse | HttpFailure): boolean {
  if (answer instanceof HttpFailure || answer.status !== 401) return false;
  return (
    answer.headers["dpop-nonce"] !== undefined &&
    /error="use_dpop_nonce"/.test(answer.headers["www-authenticate"] ?? "")
  );
}

function withHeaders(request: HttpRequest, headers: Readonly<Record<string, string>>): HttpRequest {
  return { ...request, headers: { ...request.headers, ...headers } };
}
