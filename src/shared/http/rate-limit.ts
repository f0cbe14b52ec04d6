import { actorOf, type Caller } from "../callers/caller.ts";
import type { Credential } from "../callers/credential.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../runtime/errors.ts";
import { type Admission, rateLimited } from "../limits/limits.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import type { HttpDeps } from "./deps.ts";
import { addressGroup, addressSite, SITE_FACTOR } from "../callers/caller-address.ts";
import { ERROR_CATALOG } from "../runtime/error-catalog.ts";

const SESSION_PER_MINUTE = 600;
const OPERATOR_PER_MINUTE = 120;
/** Mail gateways open every link of every mail, and providers send one-click requests for all their readers. */
const LINK_PAGES_PER_MINUTE = 300;

/** Returns the limit per minute of a kind of caller. Raising that of keys raises the others; lowering it doesn't. */
function limitOf(kind: "api_key" | "session" | "operator", config: Config["limits"]): number {
  const keys = config.requestsPerMinute;
  switch (kind) {
    case "api_key":
      return keys;
    case "session":
      return Math.max(SESSION_PER_MINUTE, 2 * keys);
    case "operator":
      return Math.max(OPERATOR_PER_MINUTE, Math.ceil(0.4 * keys));
  }
}

/** Checks one request against the limits, and returns the headers that say how much is left. */
export class RequestLimits {
  readonly #services: HttpDeps;
  readonly #ip: string;
  readonly #address: string;
  #presented: string | undefined;
  #decision: Admission | undefined;
  #caller: Caller | undefined;

  constructor(deps: HttpDeps, address: string) {
    this.#services = deps;
    this.#ip = address;
    this.#address = addressGroup(address);
  }

  /** The caller, once the credential was found right, even if the request was refused for another reason. */
  get caller(): Caller | undefined {
    return this.#caller;
  }

  #now(): number {
    return this.#services.clock.now().getTime();
  }

  /** Registers a credential before it is checked. @throws AppError `rate_limited` after too many wrong ones */
  present(credential: Credential): void {
    if (this.#decision !== undefined || this.#presented === credential.text) return;
    const { badCredentials } = this.#services.tenants.limits;
    const seconds = badCredentials.secondsUntilTry(this.#ip, credential, this.#now());
    if (seconds !== undefined) throw rateLimited(seconds);
    this.#presented = credential.text;
  }

  /**
   * Counts the request against the caller's limit, and that of a key also against its platform's. It counts once,
   * however often access is checked. It is called only for a right credential, even if the request is refused later.
   * @throws AppError `rate_limited`
   */
  async admit(
    caller: Extract<Caller, { kind: "api_key" | "session" | "operator" }>,
  ): Promise<void> {
    if (this.#decision !== undefined) return;
    const { config } = this.#services;
    const { limits } = this.#services.tenants;
    if (this.#presented !== undefined) limits.badCredentials.noteRight(this.#presented);
    this.#presented = undefined;
    this.#caller = caller;
    const { kind, id } = actorOf(caller);
    // The identity provider chooses an operator's id, which might not fit into a row key.
    const subject = `${kind}|${kind === "operator" ? sha256Hex(id) : id}`;
    const own = { subject, limit: limitOf(caller.kind, config.limits) };
    // Only keys share a limit, so that a logged-in user can still revoke a key that sends too much.
    this.#decision =
      caller.kind === "api_key"
        ? await limits.rates.admitWithin(own, {
            subject: `platform|${caller.platformId}`,
            // Never less than the limit of one key.
            limit: Math.max(config.limits.platformPerMinute, own.limit),
          })
        : await limits.rates.admit(own.subject, own.limit);
    if (!this.#decision.allowed) throw rateLimited(this.#decision.seconds);
  }

  /**
   * Counts a request without a credential against the address, and against the site of an IPv6 address. Pages of links
   * count apart from what somebody could guess with.
   * @throws AppError `rate_limited`
   */
  async admitAddress(what: "sign_in" | "link_page"): Promise<void> {
    const { rates } = this.#services.tenants.limits;
    const isPage = what === "link_page";
    const { authPerMinute } = this.#services.config.limits;
    const limit = isPage ? Math.max(LINK_PAGES_PER_MINUTE, authPerMinute) : authPerMinute;
    const prefix = isPage ? "link pages|" : "";
    const own = { subject: `${prefix}address|${sha256Hex(this.#address)}`, limit };
    const site = addressSite(this.#ip);
    const { allowed, seconds } =
      site === undefined
        ? await rates.admit(own.subject, own.limit)
        : await rates.admitWithin(own, {
            subject: `${prefix}site|${sha256Hex(site)}`,
            limit: SITE_FACTOR * limit,
          });
    if (!allowed) throw rateLimited(seconds);
  }

  /** Records a refusal. A wrong credential counts against the address; a missing one doesn't. */
  noteRefusal(error: unknown): void {
    if (this.#presented === undefined || !(error instanceof AppError)) return;
    if (ERROR_CATALOG[error.code].status !== 401) return;
    this.#services.tenants.limits.badCredentials.noteWrong(this.#ip, this.#presented, this.#now());
  }

  /** Returns the headers for every answer after authentication, including refusals. */
  headers(): readonly (readonly [string, string])[] {
    if (this.#decision === undefined) return [];
    const { limit, remaining, seconds } = this.#decision;
    return [
      ["ratelimit-limit", String(limit)],
      ["ratelimit-remaining", String(remaining)],
      ["ratelimit-reset", String(seconds)],
    ];
  }
}
