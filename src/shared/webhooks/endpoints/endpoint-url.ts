import { refuseIssues, type Issue } from "../../runtime/errors.ts";
import { refusedUrl } from "../../runtime/outbound.ts";
import type { WebhooksDeps } from "../deps.ts";

/** Development only: a host that the settings map to a stand-in may be any name. */
function isMapped(
  { config }: WebhooksDeps,
  { protocol, hostname, username, password }: URL,
): boolean {
  const isPlain = protocol === "https:" && username === "" && password === "";
  return isPlain && config.outbound.hostMap[hostname] !== undefined;
}

function reasonAgainst(services: WebhooksDeps, text: string): string | undefined {
  if (!URL.canParse(text)) return "not a URL";
  const url = new URL(text);
  const reason = isMapped(services, url) ? undefined : refusedUrl(text);
  if (reason !== undefined) return reason;
  return url.hash === "" ? undefined : "carries a fragment, which no server gets to see";
}

/** What is wrong with an endpoint's address. What is no text, or none that fits, the schema tells. */
export function endpointUrlIssues(services: WebhooksDeps, url: unknown): readonly Issue[] {
  const message = typeof url === "string" ? reasonAgainst(services, url) : undefined;
  return message === undefined ? [] : [{ path: "url", code: "refused_url", message }];
}

/** The address of an endpoint in its normal form. @throws AppError `validation_failed` with the reason */
export function endpointUrl(services: WebhooksDeps, text: string): string {
  refuseIssues(endpointUrlIssues(services, text));
  return new URL(text).href;
}
