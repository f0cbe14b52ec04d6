import { boundedRedirect } from "../../networks/contract/bounded.ts";
import { createHash } from "node:crypto";
import { serverSegment, type OAuthFlow } from "../../networks/contract/link.ts";
import type { NetworkName } from "../../networks/networks.ts";
import { invariant } from "../../runtime/errors.ts";
import { randomToken } from "../../runtime/secrets.ts";
import type { ConnectionsDeps } from "../deps.ts";
import {
  browserCookie,
  browserIdOf,
  callbackAddress,
  hashBrowserId,
  newBrowserId,
  redirect,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import { visitLimits } from "../connect-session.ts";
import { logFailedLink } from "./failed-link.ts";
import type { LinkProblem } from "./link-problem.ts";
import { createNetworkTools } from "../network-tools.ts";
import type { OpenVisit } from "./visit.ts";

const STATE_MS = 10 * 60_000;

interface OAuthVisit {
  readonly visit: OpenVisit;
  readonly network: NetworkName;
  readonly link: OAuthFlow;
  readonly form: Readonly<Record<string, string>>;
}

/**
 * Redirects to the network's authorization page. A cookie binds the state to this browser, so that nobody can make a
 * victim's browser finish an authorization that somebody else began.
 */
export async function startOAuth(
  services: ConnectionsDeps,
  request: BrowserRequest,
  { visit, network, link, form }: OAuthVisit,
): Promise<BrowserAnswer | { readonly problem: LinkProblem }> {
  const { config, clock, outbound } = services;
  const [state, codeVerifier] = [randomToken(), randomToken()];
  const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
  const tools = createNetworkTools(services, network, visitLimits(visit.session));
  const redirectUri = callbackAddress(config, { network });
  const given = { redirectUri, state, codeChallenge };
  const started = boundedRedirect(await link.start(form, given, tools));
  if (started.kind === "failed") {
    const where = { network, session: visit.session.id };
    logFailedLink(services, "an authorization was not started", where, started);
    return { problem: started.code };
  }
  if (!isPageUrl(started.url, config.production)) return { problem: "instance_unsupported" };
  const hasCallback = started.server !== undefined;
  invariant(hasCallback === (link.hasServers === true), "the callback of the server is not known");
  const browserId = browserIdOf(services, request) ?? newBrowserId(services.linking.linkTokens);
  await services.stores.oauthStates.insert(started.state ?? state, {
    sessionId: visit.session.id,
    network,
    cookieHash: hashBrowserId(browserId),
    expiresAt: new Date(clock.now().getTime() + STATE_MS).toISOString(),
    secrets: {
      codeVerifier,
      token: visit.token,
      flow: started.flow,
      server: new URL(started.url).origin,
      ...(hasCallback ? { callbackServer: serverSegment(started.server) } : {}),
    },
  });
  return redirect(outbound.browserUrl(started.url), [browserCookie(config, browserId)]);
}

/** Reports whether a URL, which a federated network's server may have chosen, is that of a web page. */
function isPageUrl(url: string, production: boolean): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === "https:" || (!production && protocol === "http:");
}
