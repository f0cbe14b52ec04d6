import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import {
  type BoundedValue,
  boundedChoice,
  boundedLink,
  boundedRedirect,
} from "../../src/shared/networks/contract/bounded.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type {
  LinkCandidate,
  LinkChoice,
  LinkOutcome,
  LinkRestart,
} from "../../src/shared/networks/contract/link.ts";
import type { NetworkTools } from "../../src/shared/networks/contract/tools.ts";

/** What the sandbox's page is told, as a browser does it; answers where that leads. */
export async function allow(page: string): Promise<URL> {
  const body = new URLSearchParams({ decision: "allow" });
  const answer = await fetch(page, { method: "POST", body, redirect: "manual" });
  const location = answer.headers.get("location");
  if (location === null) throw new Error(`the sandbox did not authorize: ${answer.status}`);
  return new URL(location);
}

interface AtNetwork {
  readonly tools: NetworkTools;
  /** The browser's part, on the network's own page; answers where it is led. */
  readonly decide: (page: string) => Promise<URL>;
  /** Called with what the relay's pages keep between two steps. */
  readonly keep?: (kept: {
    readonly flow: BoundedValue<NetworkData>;
    readonly candidates?: readonly LinkCandidate[];
  }) => Promise<void>;
}

/**
 * Walks an end user's way through a network's authorization, without the relay's pages, and takes the first account that
 * is offered. `form` is what the relay's page would have asked for; with a password in it, that is what logs in.
 */
export async function signIn(
  name: NetworkName,
  form: Readonly<Record<string, string>>,
  { tools, decide, keep }: AtNetwork,
): Promise<LinkOutcome> {
  const { link } = networkOf(name);
  if (link.kind === "form") return boundedLink(await link.signIn(form, tools));
  const { alternative } = link;
  const secrets = alternative?.fields.filter(({ secret }) => secret) ?? [];
  if (alternative !== undefined && secrets.every(({ name: field }) => field in form))
    return boundedLink(await alternative.signIn(form, tools));
  const redirectUri = "http://127.0.0.1:1/callback";
  const codeVerifier = "v".repeat(43);
  const digest = await crypto.subtle.digest("SHA-256", Buffer.from(codeVerifier));
  const codeChallenge = Buffer.from(digest).toString("base64url");
  const oauth = { redirectUri, state: "state", codeChallenge };
  const started = boundedRedirect(await link.start(form, oauth, tools));
  if (started.kind === "failed") return started;
  await keep?.(started);
  const params = Object.fromEntries((await decide(started.url)).searchParams);
  const callback = { params, codeVerifier, redirectUri, flow: started.flow };
  const finished = await link.finish(callback, tools);
  const outcome = finished.kind === "choose" ? boundedChoice(finished) : finished;
  if (outcome.kind === "choose") await keep?.(outcome);
  return firstOf(name, outcome, tools);
}

/** Takes the first account of a choice. */
async function firstOf(
  name: NetworkName,
  outcome: LinkOutcome | LinkChoice | LinkRestart,
  tools: NetworkTools,
): Promise<LinkOutcome> {
  if (outcome.kind === "failed") return outcome;
  if (outcome.kind === "linked") return boundedLink(outcome);
  const { link } = networkOf(name);
  if (outcome.kind === "restart" || link.kind === "form" || link.choose === undefined)
    throw new Error(`${name} offers nothing`);
  return boundedLink(await link.choose(outcome.candidates[0]?.id ?? "", outcome.flow, tools));
}
