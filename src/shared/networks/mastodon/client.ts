import * as z from "zod";
import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import { tryRead } from "../contract/ask.ts";
import { exchange, idShape, isHtml, oauthError } from "../contract/answers.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type LinkFailure, linkFailed } from "../contract/link.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { isLinkFailure, linkStep } from "../contract/oauth.ts";
import { errorText, isOutage } from "./errors.ts";
import { tokenRequest } from "./session.ts";
import { traitsOf } from "./servers.ts";
import { findSoftware } from "./software.ts";
import { requestHeaders } from "./state.ts";

export const UNREACHABLE = "instance_unreachable";
const PUBLISH_SCOPES = "write:statuses write:media";
/** For finding the post to quote. Neither linking nor publishing needs it. */
const SEARCH_SCOPE = "read:search";

const clientShape = objectShape(() => ({
  clientId: z.string(),
  clientSecret: z.string(),
  redirectUri: z.string(),
  scope: z.string(),
  name: z.string(),
  website: z.string(),
}));
export type Client = ShapeOf<typeof clientShape>;

export interface OAuthServer {
  readonly origin: string;
  readonly scope: string;
  readonly hasPkce: boolean;
}

const metadataShape = objectShape(() => ({
  scopes_supported: lenient(lenientList(z.string()), []),
  code_challenge_methods_supported: lenient(lenientList(z.string()), []),
}));

export function missingScopes(scopes: readonly string[]): readonly string[] {
  return scopes.includes("read") || scopes.includes(SEARCH_SCOPE) ? [] : [SEARCH_SCOPE];
}

/** Mastodon's scopes before 2.4.3, and the only ones of some servers. */
export const COARSE_SCOPES = "read write";

/**
 * Reads the authorization server's description (RFC 8414). Without one, the server is older or different. Only scopes
 * that the server has are requested, because an unknown one would make it refuse the whole request: those that it
 * lists, or those of its software. `isCoarse`: it has refused the fine ones.
 */
export async function discover(
  origin: string,
  isCoarse: boolean,
  tools: NetworkTools,
): Promise<OAuthServer> {
  const url = `${origin}/.well-known/oauth-authorization-server`;
  const data = await tryRead({ method: "GET", url }, metadataShape, tools);
  const known = data?.scopes_supported ?? [];
  const hasPkce = data?.code_challenge_methods_supported.includes("S256") === true;
  const knowsCoarse = known.includes("write") && !known.includes("write:statuses");
  const isKnownCoarse = async () =>
    known.length === 0 && traitsOf(await findSoftware(origin, tools)).hasCoarseScopes;
  if (isCoarse || knowsCoarse || (await isKnownCoarse()))
    return { origin, scope: COARSE_SCOPES, hasPkce };
  const account = known.includes("profile") ? "profile" : "read:accounts";
  const extra = known.includes(SEARCH_SCOPE) ? ` ${SEARCH_SCOPE}` : "";
  return { origin, scope: `${account} ${PUBLISH_SCOPES}${extra}`, hasPkce };
}

/**
 * Returns the relay's registration at the instance. Registers if there is none for this redirect address, these scopes
 * and the service's name. Accounts linked with an earlier registration keep it, and it continues to work.
 */
export async function findClient(
  server: OAuthServer,
  redirectUri: string,
  tools: NetworkTools,
): Promise<Client | LinkFailure> {
  const { host } = new URL(server.origin);
  const kept = clientShape().safeParse(await tools.hosts.find(host)).data;
  const { name, url: website } = tools.service;
  const asked = { redirectUri, scope: server.scope, name, website };
  const isSame = Object.entries(asked).every(
    ([field, value]) => kept?.[field as keyof AskedClient] === value,
  );
  if (kept !== undefined && isSame && (await isKnown(kept, server, tools))) return kept;
  // One address as plain text, because a list is only supported from 4.3 on.
  const body = { client_name: name, redirect_uris: redirectUri, scopes: server.scope, website };
  const request = {
    method: "POST",
    url: `${server.origin}/api/v1/apps`,
    headers: { ...requestHeaders({ accessToken: null }), "content-type": "application/json" },
    body: JSON.stringify(body),
  } as const;
  const read = (answer: HttpResponse) => readRegistration(answer, asked);
  const client = await linkStep(
    { request, read, refuse: refused, unreachable: UNREACHABLE },
    tools,
  );
  if (!isLinkFailure(client)) await tools.hosts.save(host, client);
  return client;
}

type AskedClient = Omit<Client, "clientId" | "clientSecret">;

/**
 * Reports whether the instance still has the registration. Instances delete registrations, and before 4.3 all unused
 * ones. Only the instance's own page would show it, and nothing leads back from there, so the registration is tried.
 */
async function isKnown(client: Client, server: OAuthServer, tools: NetworkTools): Promise<boolean> {
  // GoToSocial, snac and Friendica want the address with every grant, and Friendica knows no app without it.
  const grant = { grant_type: "client_credentials", redirect_uri: client.redirectUri };
  const answer = await exchange(tools, tokenRequest({ origin: server.origin, ...client }, grant));
  return answer instanceof HttpFailure || !isOfNoClient(answer);
}

/**
 * How servers name an app that they don't know, next to the code of RFC 6749 and to 401: Pleroma's "Invalid credentials"
 * (`o_auth_controller.ex`), and the database's words of GoToSocial (`internal/oauth/clientstore.go`).
 */
const NO_CLIENT =
  /invalid (?:client )?credentials|no (?:rows|entries)|(?:unknown|no such) (?:client|app)|(?:client|app|application) (?:was |is )?(?:not found|unknown)/i;

function isOfNoClient(answer: HttpResponse): boolean {
  if (answer.status < 400 || answer.status >= 500 || isHtml(answer)) return false;
  return (
    answer.status === 401 ||
    oauthError(answer) === "invalid_client" ||
    NO_CLIENT.test(errorText(answer))
  );
}

function readRegistration(answer: HttpResponse, asked: AskedClient): Client | undefined {
  const shape = z.object({ client_id: idShape(), client_secret: z.string().min(1) });
  const parsed = shape.safeParse(answer.json());
  if (answer.status < 200 || answer.status >= 300 || !parsed.success) return undefined;
  return { clientId: parsed.data.client_id, clientSecret: parsed.data.client_secret, ...asked };
}

export function refused(answer: HttpResponse): LinkFailure {
  const note = `HTTP ${answer.status} ${oauthError(answer) ?? ""}`;
  if (answer.status === 429) return linkFailed("rate_limited", note);
  return linkFailed(isOutage(answer) ? "network_unavailable" : "instance_unsupported", note);
}
