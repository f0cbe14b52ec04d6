import type { HttpRequest } from "../../runtime/http-call.ts";
import { type NetworkTools, appOf } from "../contract/tools.ts";
import type { AsAccount, AuthorKind, Credentials } from "./state.ts";

export const API = "https://api.linkedin.com";
export const SITE = "https://www.linkedin.com";
export const OAUTH = `${SITE}/oauth/v2`;

/** Returns undefined if the app for organizations is not configured. */
export function clientOf(
  kind: AuthorKind,
  tools: NetworkTools,
): { readonly id: string; readonly secret: string } | undefined {
  const app = appOf(tools);
  return kind === "member" ? app : app.organizations;
}

interface AsHolder {
  readonly credentials: Pick<Credentials, "accessToken">;
  readonly tools: NetworkTools;
}

export function restRequest(path: string, { credentials, tools }: AsHolder): HttpRequest {
  return {
    method: "GET",
    url: `${API}/rest/${path}`,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${credentials.accessToken}`,
      "linkedin-version": appOf(tools).version,
      "x-restli-protocol-version": "2.0.0",
    },
  };
}

/** Makes the request of a method that has a header of its own. */
export function restMethod(path: string, method: "FINDER" | "DELETE", as: AsHolder): HttpRequest {
  const { headers, ...request } = restRequest(path, as);
  return {
    ...request,
    method: method === "DELETE" ? method : "GET",
    headers: { ...headers, "x-restli-method": method },
  };
}

export function restPost(path: string, body: unknown, as: AsAccount): HttpRequest {
  const { headers, ...request } = restRequest(path, as);
  return {
    ...request,
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

/** A version lives for at least a year: https://learn.microsoft.com/linkedin/marketing/versioning */
const MONTHS = 12;

/** Returns the date until which the version of a month, such as 202609, certainly lives. */
export function versionEnd(version: string): Date {
  const year = Number(version.slice(0, 4));
  const month = Number(version.slice(4));
  return new Date(Date.UTC(year, month - 1 + MONTHS, 1));
}
