import { createHash, randomBytes } from "node:crypto";
import { consentErrorPage, consentPage, rights } from "./consent-page.ts";
import type { Choice } from "./consent-page.ts";
import { Refusal, htmlPage, json } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { keep } from "./kept-maps.ts";
import type { Route } from "./network.ts";

/** What an app asks an owner to consent to. */
export interface Asked {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | null;
  /** PKCE's challenge; null where the app sent none, or the network ignores it. */
  readonly challenge: string | null;
  /** Thumbprint of the key that the code and its tokens are bound to. */
  readonly thumbprint?: string;
  /** Account that is chosen at first. */
  readonly hint?: string;
}

/** An authorization code, for what the owner granted. */
export interface Code extends Asked {
  readonly accountId: string;
  readonly expiresAt: number;
  isUsed: boolean;
}

type Parameters = Readonly<Record<string, string>>;

/** Where a request ends that is not asked: on a page, or at the app with an error. */
type Ending =
  | { readonly page: string; readonly title: string; readonly status?: number }
  | { readonly back: Parameters };

/** Why a code is not redeemed. */
export type CodeProblem = "unknown" | "used" | "expired" | "redirect" | "verifier";

interface ProviderOptions {
  readonly network: string;
  readonly now: () => number;
  readonly codes: () => Map<string, Code>;
  readonly codeMs: number;
  /** Reads a request for consent. Throws what `end` returns for one that is not asked. */
  readonly read: (exchange: Exchange) => Asked;
  readonly page: (asked: Asked) => { readonly host: string; readonly title: string };
  readonly accounts: (asked: Asked) => readonly { id: string; label: string; hint: string }[];
  /** What else the owner chooses. */
  readonly choices?: () => { readonly legend: string; readonly choices: readonly Choice[] };
  /** Words for a scope, by its name. */
  readonly words: (scope: string) => string;
  /** Whether the owner may grant some of the scopes; these ones can't be declined. */
  readonly isPartial?: { readonly always: readonly string[] };
  /** Labels by decision; the first one agrees. */
  readonly buttons: Parameters;
  readonly denied: (decision: string) => Parameters;
  readonly onAllowed?: (asked: Asked, code: Code, form: URLSearchParams) => void;
  /** Parameters of every answer at the app's address, and what follows them. */
  readonly back?: Parameters;
  readonly suffix?: string;
}

/** The part of OAuth that is the same everywhere: the owner's consent, and codes. */
export class OAuthProvider {
  readonly #options: ProviderOptions;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** The page that asks the owner, and its form. */
  routes(place: Pick<Route, "path" | "name" | "hosts">): Route[] {
    return [
      { ...place, method: "GET", run: (exchange) => this.#ask(exchange) },
      { ...place, method: "POST", run: (exchange) => this.#decide(exchange) },
    ];
  }

  /** Ends a request that is not asked. */
  end(asked: Pick<Asked, "redirectUri" | "state">, ending: Ending): Refusal {
    if ("back" in ending) return new Refusal(this.#back(asked, ending.back));
    const { title, page, status = 400 } = ending;
    return new Refusal(htmlPage(status, consentErrorPage(this.#options.network, title, page)));
  }

  /** Returns the code that a client redeems, once. Throws what `refuse` returns for one that is no good. */
  redeem(
    sent: {
      readonly code: string;
      readonly clientId: string;
      readonly redirectUri: string;
      readonly verifier?: string;
      readonly thumbprint?: string;
    },
    refuse: (problem: CodeProblem) => Refusal,
  ): Code {
    const code = this.#options.codes().get(sent.code);
    if (code === undefined) throw refuse("unknown");
    if (code.isUsed) throw refuse("used");
    if (code.clientId !== sent.clientId || code.thumbprint !== sent.thumbprint)
      throw refuse("unknown");
    if (code.expiresAt <= this.#options.now()) throw refuse("expired");
    if (code.redirectUri !== sent.redirectUri) throw refuse("redirect");
    const proof = createHash("sha256")
      .update(sent.verifier ?? "")
      .digest("base64url");
    if (code.challenge !== null && code.challenge !== proof) throw refuse("verifier");
    code.isUsed = true;
    return code;
  }

  #ask(exchange: Exchange): Answer {
    const { network, read, page, accounts, choices, words, isPartial, buttons } = this.#options;
    const asked = read(exchange);
    const known = accounts(asked);
    const chosen = asked.hint ?? known[0]?.id;
    const radios = known.map(({ id, label, hint }): Choice => {
      return { kind: "radio", name: "account", value: id, label, hint, checked: id === chosen };
    });
    const groups = [
      { legend: "As", choices: radios },
      ...(choices === undefined ? [] : [choices()]),
    ];
    return htmlPage(
      200,
      consentPage({
        network,
        ...page(asked),
        ...(isPartial === undefined
          ? { wishes: [...new Set(asked.scopes.map(words))], groups }
          : { groups: [...groups, { legend: "It may", choices: rights(asked.scopes, words) }] }),
        action: `${exchange.path}?${exchange.query.toString()}`,
        buttons: Object.entries(buttons).map(([value, label]) => ({ value, label })),
      }),
    );
  }

  #decide(exchange: Exchange): Answer {
    const { read, accounts, denied, onAllowed, codes, codeMs, now } = this.#options;
    const asked = read(exchange);
    const form = new URLSearchParams(exchange.body.toString("utf8"));
    const decision = form.get("decision") ?? "";
    if (decision !== "allow") return this.#back(asked, denied(decision));
    const known = accounts(asked);
    const accountId = form.get("account") ?? asked.hint ?? known[0]?.id ?? "";
    if (!known.some(({ id }) => id === accountId))
      throw this.end(asked, { title: "Error", page: "There is no such account." });
    const code: Code = {
      ...asked,
      scopes: this.#granted(asked.scopes, form),
      accountId,
      expiresAt: now() + codeMs,
      isUsed: false,
    };
    const text = `AQ${randomBytes(90).toString("base64url")}`;
    keep(codes(), text, code);
    onAllowed?.(asked, code, form);
    return this.#back(asked, { code: text });
  }

  /**
   * Returns what is granted: all that was asked for, unless the form says less. Its field `granted` is a test's own. A
   * form without the page's marker `asked` is a bare decision.
   */
  #granted(scopes: readonly string[], form: URLSearchParams): string[] {
    const { isPartial } = this.#options;
    const granted = form.get("granted")?.split(" ") ?? scopes;
    const isWhole = isPartial === undefined || !form.has("asked");
    return scopes.filter(
      (name) =>
        granted.includes(name) &&
        (isWhole || isPartial.always.includes(name) || form.has(`may_${name}`)),
    );
  }

  #back({ redirectUri, state }: Pick<Asked, "redirectUri" | "state">, parameters: Parameters) {
    const url = new URL(redirectUri);
    const { back, suffix = "" } = this.#options;
    for (const [name, value] of Object.entries({ ...back, ...parameters }))
      url.searchParams.set(name, value);
    if (state !== null) url.searchParams.set("state", state);
    return { status: 303, headers: { location: url.href + suffix } };
  }
}

interface QueryRules {
  /** Scopes that the client may ask for; undefined for an unknown client. */
  readonly allowed: readonly string[] | undefined;
  readonly isRedirect: (address: string) => boolean;
  /** Scopes of a request that names none. */
  readonly fallback?: readonly string[];
  readonly required?: string;
  readonly endings: {
    readonly client: Ending;
    readonly redirect: Ending;
    readonly responseType: Ending;
    readonly scope: (unknown: readonly string[]) => Ending;
  };
}

/** Reads a request for consent from the query of a browser's address. */
export function readQuery(
  provider: Pick<OAuthProvider, "end">,
  { query }: Exchange,
  { allowed, isRedirect, fallback = [], required, endings }: QueryRules,
): Asked {
  const value = (name: string) => query.get(name) ?? "";
  const back = { redirectUri: value("redirect_uri"), state: query.get("state") };
  if (allowed === undefined) throw provider.end(back, endings.client);
  if (!isRedirect(back.redirectUri)) throw provider.end(back, endings.redirect);
  if (value("response_type") !== "code") throw provider.end(back, endings.responseType);
  const named = value("scope")
    .split(/[\s,+]+/)
    .filter(Boolean);
  const scopes = named.length === 0 ? fallback : named;
  const unknown = scopes.filter((scope) => !allowed.includes(scope));
  const lacks = scopes.length === 0 || (required !== undefined && !scopes.includes(required));
  if (unknown.length > 0 || lacks) throw provider.end(back, endings.scope(unknown));
  return { ...back, clientId: value("client_id"), scopes, challenge: null };
}

/** Returns whether an app may have its answers there. Networks want https; a developer's machine has none. */
export function isRedirect(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol === "https:" || (protocol === "http:" && isLoopback);
}

/** Returns the fields of a form; undefined for a body of another type. */
export function readForm(exchange: Exchange): URLSearchParams | undefined {
  const type = (exchange.headers["content-type"] ?? "").toLowerCase();
  if (!type.startsWith("application/x-www-form-urlencoded")) return undefined;
  return new URLSearchParams(exchange.body.toString("utf8"));
}

/** Refuses in the words of RFC 6749. */
export function oauthRefusal(
  status: number,
  error: string,
  error_description: string,
  headers: Parameters = {},
): Refusal {
  return new Refusal(json(status, { error, error_description }, headers));
}
