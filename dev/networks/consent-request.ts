import type { Exchange } from "./exchange.ts";

/** What an app's request for consent says. */
export interface Asked {
  readonly appId: string;
  readonly redirectUri: string;
  readonly permissions: readonly string[];
}

/** Meta wants https; a developer's machine has none. */
export function isRedirect(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol === "https:" || (protocol === "http:" && isLoopback);
}

/** The app's own address with what it is told, and with the state that it sent. */
export function callbackUrl(
  { query }: Exchange,
  redirectUri: string,
  parameters: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const state = query.get("state");
  if (state !== null) url.searchParams.set("state", state);
  return url.href;
}

/** What is granted of what was asked for: all of it, unless the form (a test's, no page has the field) says less. */
export function grantedOf(asked: readonly string[], granted: readonly string[] = asked): string[] {
  return asked.filter((scope) => granted.includes(scope));
}
