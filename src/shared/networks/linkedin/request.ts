import type { HttpRequest } from "../../runtime/http-call.ts";
import { type NetworkTools, appOf } from "../contract/tools.ts";
import type { AuthorKind, Credentials } from "./state.ts";

export const API = "https://api.linkedin.com";
export const SITE = "https://www.linkedin.com";
export const OAUTH = `${SITE}/oauth/v2`;

/**
 * Returns the id and secret that tokens of this kind belong to; undefined if the app for organisations is not
 * configured.
 */
export function clientOf(
  kind: AuthorKind,
  tools: NetworkTools,
): { readonly id: string; readonly secret: string } | undefined {
  const app = appOf(tools);
  return kind === "member" ? app : app.organizations;
}

export function restRequest(
  path: string,
  { accessToken }: Pick<Credentials, "accessToken">,
  tools: NetworkTools,
): HttpRequest {
  return {
    method: "GET",
    url: `${API}/rest/${path}`,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${accessToken}`,
      "linkedin-version": appOf(tools).version,
      "x-restli-protocol-version": "2.0.0",
    },
  };
}

export function restPost(
  path: string,
  body: unknown,
  credentials: Credentials,
  tools: NetworkTools,
): HttpRequest {
  const { headers, ...request } = restRequest(path, credentials, tools);
  return {
    ...request,
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

/** A version lives for a year at least; https://learn.microsoft.com/linkedin/marketing/versioning */
const MONTHS = 12;

/** Returns the date until which the version of a month, such as 202609, certainly lives. */
export function versionEnd(version: string): Date {
  const year = Number(version.slice(0, 4));
  const month = Number(version.slice(4));
  return new Date(Date.UTC(year, month - 1 + MONTHS, 1));
}
