import type { LinkChoice, LinkOutcome, Network } from "../networks/network.ts";
import { findAvailable } from "../networks/registry.ts";
import type { Services } from "../services.ts";
import { callbackAddress, pageAddress } from "./addresses.ts";
import {
  isSameBrowser,
  pageAnswer,
  redirect,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import { offerChoice } from "./choice.ts";
import { createNetworkTools } from "./network-tools.ts";
import type { FoundAttempt, OAuthAttempt } from "./oauth-state-store.ts";
import { renderNotice } from "./page.ts";
import { settleLink, SIGN_IN_LIMITS } from "./submit-form.ts";
import { deadEnd, openVisit } from "./visit.ts";

const STATE_CHARACTERS_MAX = 200;

type Params = Readonly<Record<string, string>>;

/** GET of the address that the network leads the browser back to. Its state is used up, whatever comes of it. */
export async function finishOAuth(
  services: Services,
  request: BrowserRequest,
  callback: { readonly network: string; readonly params: Params },
): Promise<BrowserAnswer> {
  const state = (callback.params["state"] ?? "").slice(0, STATE_CHARACTERS_MAX);
  const found = await findStarted(services, state, callback.network);
  if (found === undefined) return usedStep();
  const { attempt } = found;
  if (!isSameBrowser(services.config, request, attempt.cookieHash)) return otherBrowser();
  if (!(await services.oauthStates.consume(state, found))) return usedStep();
  const { sessionId, secrets, network: name } = attempt;
  const visit = await openVisit(services, { session: sessionId, token: secrets.token });
  if (visit.kind === "unknown") return deadEnd(services, undefined);
  if (visit.kind === "over") return deadEnd(services, visit.session);
  const back = (problem: string) =>
    redirect(pageAddress(services.config, sessionId, secrets.token, { network: name, problem }));
  if (Date.parse(attempt.expiresAt) <= services.clock.now().getTime()) return back("step_over");
  const network = findAvailable(name, services.config.networkApps);
  if (network === undefined) return back("not_available");
  const outcome = await finish(services, network, attempt, callback.params);
  if (outcome.kind === "choose") return offerChoice(services, attempt, outcome);
  const answer = await settleLink(services, request, { visit, network, outcome });
  return "problem" in answer ? back(answer.problem) : answer;
}

/** The name of a choice is no state, though both are kept in one place. */
async function findStarted(
  services: Services,
  state: string,
  network: string,
): Promise<FoundAttempt | undefined> {
  const found = state === "" ? undefined : await services.oauthStates.find(state);
  const isStarted =
    found?.attempt.network === network && found.attempt.secrets.candidates === undefined;
  return isStarted ? found : undefined;
}

async function finish(
  services: Services,
  { name, link }: Network,
  { secrets }: OAuthAttempt,
  params: Params,
): Promise<LinkOutcome | LinkChoice> {
  if (link.kind !== "oauth") return { kind: "failed", code: "network_unavailable" };
  const { codeVerifier, flow } = secrets;
  const redirectUri = callbackAddress(services.config, name);
  const tools = createNetworkTools(services, name, SIGN_IN_LIMITS);
  return await link.finish({ params, codeVerifier, redirectUri, flow }, tools);
}

function usedStep(): BrowserAnswer {
  const title = "This step is over";
  const text =
    "It was used already or took too long. Open the link you were given again to see what is connected, and go on from there.";
  return pageAnswer(410, (nonce) => renderNotice({ title, text, back: null, branding: {} }, nonce));
}

function otherBrowser(): BrowserAnswer {
  const title = "Please stay in one browser";
  const text =
    "This was started in another browser, or this one keeps no cookies. For your safety nothing was connected. Open the link you were given in one browser and go through all steps there.";
  return pageAnswer(403, (nonce) => renderNotice({ title, text, back: null, branding: {} }, nonce));
}
