import {
  type BoundedChoice,
  boundedChoice,
  boundedLink,
  type BoundedLinking,
} from "../../networks/contract/bounded.ts";
import type { LinkRestart } from "../../networks/contract/link.ts";
import { findAvailable, type RegisteredNetwork } from "../../networks/networks.ts";
import type { ConnectionsDeps } from "../deps.ts";
import {
  browserIdOf,
  callbackAddress,
  callbackAtHome,
  isSameBrowser,
  type CallbackPath,
  pageAddress,
  redirect,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import { offerChoice } from "./choice.ts";
import { visitLimits, visitorsOf } from "../connect-session.ts";
import { createNetworkTools, type ToolsDeps } from "../network-tools.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { FoundAttempt, OAuthAttempt, OAuthStateStore } from "../oauth-state-store.ts";
import { startOAuth } from "./start-oauth.ts";
import { finishLink } from "./submit-form.ts";
import { endNotice, plainNotice, openVisit, type OpenVisit, type Visit } from "./visit.ts";

const STATE_CHARACTERS_MAX = 200;

type Params = Readonly<Record<string, string>>;

/** Answers GET of the address that the network leads back to. The state is used up whatever the result is. */
export async function finishOAuth(
  services: ConnectionsDeps,
  request: BrowserRequest,
  callback: CallbackPath & { readonly params: Params },
): Promise<BrowserAnswer> {
  const atHome = callbackAtHome(services.config, request.host ?? null, callback);
  if (atHome !== undefined) return redirect(atHome);
  // Storage isn't read for a state that no browser can have.
  if (browserIdOf(services, request) === undefined)
    return plainNotice(services.config, request, "otherBrowser", 403);
  const state = (callback.params["state"] ?? "").slice(0, STATE_CHARACTERS_MAX);
  const found = await findStarted(services.stores.oauthStates, state, callback);
  if (found === undefined) return plainNotice(services.config, request, "usedStep", 410);
  const { attempt } = found;
  if (!isSameBrowser(services, request, attempt.cookieHash))
    return plainNotice(services.config, request, "otherBrowser", 403);
  const { sessionId, secrets } = attempt;
  const visit = await openVisit(services, { session: sessionId, token: secrets.token });
  const link = async () =>
    (await services.stores.oauthStates.consume(state, found))
      ? await linkReturned(services, request, visit, { attempt, params: callback.params })
      : plainNotice(services.config, request, "usedStep", 410);
  if (visit.kind !== "open") return await link();
  // Before the state is used up, so that the page can be loaded again.
  return await services.waits.run(visitorsOf(visit.session), link);
}

/** Links the account of an authorization that this browser started and that comes back for the first time. */
async function linkReturned(
  services: ConnectionsDeps,
  request: BrowserRequest,
  visit: Visit,
  { attempt, params }: { readonly attempt: OAuthAttempt; readonly params: Params },
): Promise<BrowserAnswer> {
  const { sessionId, secrets, network: name } = attempt;
  if (visit.kind === "unknown") return endNotice(services, request, undefined);
  if (visit.kind === "over") return endNotice(services, request, visit.session);
  const back = (problem: LinkProblem) =>
    redirect(pageAddress(services.config, sessionId, secrets.token, { network: name, problem }));
  if (Date.parse(attempt.expiresAt) <= services.clock.now().getTime()) return back("step_over");
  if (isOtherIssuer(params["iss"], secrets.server)) return back("instance_unsupported");
  const network = findAvailable(name, services.config.networkApps);
  if (network === undefined) return back("not_available");
  const outcome = await finishLinking(services, network, visit, { attempt, params });
  if (outcome.kind === "choose") return offerChoice(services, attempt, outcome);
  if (outcome.kind === "restart" && network.link.kind === "oauth") {
    const again = { visit, network: name, link: network.link, form: outcome.form };
    const started = await startOAuth(services, request, again);
    return "problem" in started ? back(started.problem) : started;
  }
  if (outcome.kind === "restart") return back("network_unavailable");
  const answer = await finishLink(services, request, { visit, network, outcome });
  return "problem" in answer ? back(answer.problem) : answer;
}

/**
 * Reports whether an answer comes from another server than the one visited (RFC 9207). Its code must then be sent to
 * neither. A network that publishes its issuer's exact name compares it itself.
 */
function isOtherIssuer(issuer: string | undefined, server: string | undefined): boolean {
  if (issuer === undefined || server === undefined) return false;
  return !URL.canParse(issuer) || new URL(issuer).origin !== server;
}

/**
 * Finds the attempt of a state that may come back at this address. A server only leads people back to the address
 * registered there. So a code that arrives at another server's address than the state was made for was issued by that
 * other server, and must not be sent to this one (RFC 9700, section 4.4). The name of a choice is no state, although
 * both are stored in one table.
 */
async function findStarted(
  oauthStates: OAuthStateStore,
  state: string,
  { network, server }: CallbackPath,
): Promise<FoundAttempt | undefined> {
  const found = state === "" ? undefined : await oauthStates.find(state);
  if (found === undefined) return undefined;
  const { attempt } = found;
  const isStarted = attempt.secrets.candidates === undefined;
  const isItsAddress = attempt.network === network && attempt.secrets.callbackServer === server;
  return isStarted && isItsAddress ? found : undefined;
}

async function finishLinking(
  services: ToolsDeps,
  { name, link }: RegisteredNetwork,
  { session }: OpenVisit,
  { attempt, params }: { readonly attempt: OAuthAttempt; readonly params: Params },
): Promise<BoundedLinking | BoundedChoice | LinkRestart> {
  if (link.kind !== "oauth") return { kind: "failed", code: "network_unavailable" };
  const { codeVerifier, flow } = attempt.secrets;
  const redirectUri = callbackAddress(services.config, { network: name });
  const tools = createNetworkTools(services, name, visitLimits(session));
  const outcome = await link.finish({ params, codeVerifier, redirectUri, flow }, tools);
  if (outcome.kind === "restart") return outcome;
  return outcome.kind === "choose" ? boundedChoice(outcome) : boundedLink(outcome);
}
