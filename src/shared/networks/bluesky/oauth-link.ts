import type { Texts } from "../contract/draft.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { noteOf } from "../contract/answers.ts";
import {
  type LinkFailure,
  type LinkField,
  type LinkOutcome,
  linkFailed,
} from "../contract/link.ts";
import type { OAuthCallback, OAuthRedirect, OAuthStart } from "../contract/link.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { originOf, serverOrigin, typedAddress } from "../contract/text.ts";
import { describe, LOGIN_HOST, readIdentifier } from "./identity.ts";
import { callAsAccount } from "./account-call.ts";
import { query } from "./request.ts";
import { hasDocuments, loopbackAddress, allowsPosting } from "./client-documents.ts";
import { BROAD_SCOPE, GRANULAR_SCOPE } from "./client-documents.ts";
import type { OAuthCredentials } from "./state.ts";
import { openClient, problemOf, sessionIn } from "./oauth-client.ts";
import type { Client, OAuthProblem } from "./oauth-client.ts";
import { accessEnd, endOAuth, idleEnd } from "./session.ts";

export const oauthFields = [
  {
    name: "identifier",
    label: "Handle (optional)",
    hint: "For example alice.bsky.social, or the address of your own server. Leave it empty to log in at bsky.social",
    placeholder: "alice.bsky.social",
    autocomplete: "username",
    known: ({ account }) => account.username,
  },
] as const satisfies readonly LinkField[];

const flowShape = objectShape(() => ({
  redirectUri: z.string(),
  /** The library's own data. `iss` is the issuer of the authorization server. */
  saved: z.looseObject({ iss: z.string() }),
  /** DID of the account that was typed. The authorization must belong to it. */
  did: z.string().nullable(),
}));

/** Returns the possible meanings of a typed text: an account, or a server's origin. A site's address may be either. */
function readInputs(typed: string): readonly string[] {
  // Its login page asks for the name itself.
  if (typed === "") return [LOGIN_HOST];
  const { kind, value } = readIdentifier(typed, true) ?? {};
  // No directory has email addresses.
  if (kind === "email") return [LOGIN_HOST];
  const origin = /^https?:\/\//i.test(typed) ? serverOrigin(typed) : undefined;
  const isSite = value === undefined || origin === `https://${value}`;
  const isServer = isSite && value?.endsWith(".bsky.social") !== true;
  return [isServer ? origin : undefined, value].filter((input) => input !== undefined);
}

/** Starts an authorization. The library chooses the state itself, and the callback comes back with it. */
export async function start(
  form: Texts,
  oauth: OAuthStart,
  tools: NetworkTools,
): Promise<(OAuthRedirect & { readonly state: string }) | LinkFailure> {
  const { app } = tools;
  const inputs = readInputs(typedAddress(form["identifier"] ?? ""));
  if (app === undefined) return linkFailed("network_unavailable", "there is no OAuth client");
  const redirectUri = hasDocuments(app) ? oauth.redirectUri : loopbackAddress(oauth.redirectUri);
  let failure: LinkFailure | undefined;
  for (const input of inputs) {
    const client = await openClient(app, redirectUri, tools);
    try {
      const url = await authorize(client, input);
      const [[state, saved] = []] = client.states;
      if (state === undefined) throw new Error("the library kept no state");
      const did = input.startsWith("did:") ? input : (client.trace.did ?? null);
      return { kind: "redirect", url: url.href, state, flow: { redirectUri, saved, did } };
    } catch (error) {
      failure ??= failedStart(problemOf(error, client.trace));
    }
  }
  return failure ?? linkFailed("input_invalid");
}

function failedStart({ code, networkCode, note, isUnproven }: OAuthProblem): LinkFailure {
  const failure = linkFailed(code, networkCode === null ? note : `${networkCode}: ${note}`);
  return isUnproven === true ? { ...failure, isUnproven } : failure;
}

/** Requests an authorization. Servers without fine scopes refuse them immediately, and get the one that all have. */
async function authorize({ library, states, trace }: Client, input: string): Promise<URL> {
  try {
    return await library.authorize(input, { scope: GRANULAR_SCOPE });
  } catch (error) {
    if (problemOf(error, trace).networkCode !== "invalid_scope") throw error;
    states.clear();
    return await library.authorize(input, { scope: BROAD_SCOPE });
  }
}

export async function finish(
  callback: Pick<OAuthCallback, "params" | "flow">,
  tools: NetworkTools,
): Promise<LinkOutcome> {
  const { params } = callback;
  const { redirectUri, saved, did } = flowShape().parse(callback.flow);
  if (tools.app === undefined) return linkFailed("network_unavailable", "there is no OAuth client");
  // AT Protocol requires `iss` of every server. The library checks it only if the server's own metadata announce it,
  // which a server that wants another one's code would leave out.
  if (params["error"] === undefined && params["iss"] !== saved.iss)
    return linkFailed("instance_unsupported", `the answer is of ${params["iss"] ?? "no issuer"}`);
  const client = await openClient(tools.app, redirectUri, tools);
  // Safe: the library's own data, as it was stored for it.
  client.states.set(params["state"] ?? "", saved as never);
  try {
    const { session } = await client.library.callback(new URLSearchParams(params), {
      redirect_uri: redirectUri as never,
    });
    const credentials = credentialsFrom(client, { did: session.did, redirectUri }, tools);
    if (credentials === undefined)
      return linkFailed("instance_unsupported", "the tokens are of no use");
    // Links the account. Ends an authorization of another account, or one that doesn't allow publishing.
    const { scope } = credentials.session.tokenSet;
    const isOther = did !== null && did !== credentials.did;
    if (isOther || !allowsPosting(scope.split(" "))) {
      await endOAuth(credentials, tools);
      return isOther ? linkFailed("other_account") : linkFailed("permission_missing", scope);
    }
    return await linkAccount(credentials, tools);
  } catch (error) {
    const problem = problemOf(error, client.trace);
    const { networkCode, note } = problem;
    const words = noteOf(`${params.error ?? networkCode ?? ""} ${note}`);
    if (params.error === "access_denied") return linkFailed("access_denied", words);
    return params.error === undefined
      ? failedStart(problem)
      : linkFailed("network_unavailable", words);
  }
}

function credentialsFrom(
  client: Client,
  { did, redirectUri }: { readonly did: string; readonly redirectUri: string },
  tools: NetworkTools,
): OAuthCredentials | undefined {
  const session = sessionIn(client, did);
  const pds = session === undefined ? undefined : originOf(session.tokenSet.aud);
  if (session === undefined || pds === undefined) return undefined;
  const accessExpiresAt = accessEnd(session, tools.now());
  return { kind: "oauth", did, pds, redirectUri, accessExpiresAt, session };
}

const sessionView = objectShape(() => ({
  handle: lenient(z.string()),
  active: lenient(z.boolean()),
  status: lenient(z.string()),
}));

async function linkAccount(
  credentials: OAuthCredentials,
  tools: NetworkTools,
): Promise<LinkOutcome> {
  const request = query(credentials.pds, "com.atproto.server.getSession");
  const answer = await callAsAccount(request, { credentials, tools });
  if (answer instanceof HttpFailure) return linkFailed("instance_unreachable", answer.message);
  const view = sessionView().safeParse(answer.status === 200 ? answer.json() : {}).data ?? {};
  if (view.active === false) return linkFailed("account_restricted", view.status);
  const account = await describe(credentials, view.handle ?? credentials.did, tools);
  const scopes = credentials.session.tokenSet.scope.split(" ");
  return { kind: "linked", linked: { ...account, scopes, expiresAt: idleEnd(tools) } };
}
