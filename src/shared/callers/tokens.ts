import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from "jose";
import { AppError, boundedText, serviceUnavailable } from "../runtime/errors.ts";
import { FairLimit } from "../runtime/fair-limit.ts";
import { OWN_HOSTS } from "../runtime/http-call.ts";
import type { Log } from "../runtime/log.ts";
import type { Outbound } from "../runtime/outbound.ts";
import { checkAccessToken } from "./access-token.ts";
import type { OperatorCaller } from "./caller.ts";
import { invalidCredentials, sessionExpired } from "./credential.ts";
import { ownTokens } from "../runtime/rotating-keys.ts";
import { failedTokenCheck } from "../runtime/token-check.ts";

/** How long keys are used while their endpoint can't be reached, and how rarely unknown keys are requested. */
const KEYS_MAX_AGE_MS = 24 * 3600 * 1000;
const KEYS_COOLDOWN_MS = 5 * 60 * 1000;
/** How long withdrawn keys are still accepted. */
const KEYS_RENEW_MS = 3600 * 1000;
const FETCH_TIMEOUT_MS = 5_000;
const KEYS_BYTES_MAX = 256 * 1024;
/**
 * How many tokens may wait while keys are fetched. Anybody can make up tokens, and each one that waits takes one of the
 * host's slots (`host.json` admits 100), which all customers need.
 */
const KEYS_WAITING_MAX = 20;
const CLOCK_TOLERANCE_SECONDS = 60;
const ALGORITHMS = ["RS256", "ES256"];

interface OperatorDeps {
  readonly outbound: Outbound;
  readonly log: Log;
  readonly now: () => Date;
}

export interface Operators {
  /**
   * Returns the caller of a token.
   * @throws AppError `invalid_credentials`; `service_unavailable` when the issuer's keys can't be fetched
   */
  verify(token: string): Promise<OperatorCaller>;
}

/** Where operators log in, and the audiences that their tokens must have. */
export interface OperatorConfig {
  readonly issuers: readonly string[];
  /** The token must have one of them. */
  readonly audiences: readonly string[];
  readonly jwksUrl: string;
  readonly tenantId: string | undefined;
}

function openKeys(config: OperatorConfig, { outbound, log, now }: OperatorDeps) {
  let renewedAt = 0;
  const fetchKeys = async (url: string): Promise<Response> => {
    try {
      const answer = await outbound.request({
        method: "GET",
        url,
        headers: { accept: "application/json" },
        timeoutMs: FETCH_TIMEOUT_MS,
        bytesMax: KEYS_BYTES_MAX,
        owner: OWN_HOSTS,
      });
      if (answer.status !== 200) throw new Error(`the key set answered ${answer.status}`);
      return new Response(answer.text());
    } catch (error) {
      throw serviceUnavailable(error);
    }
  };
  const keys = createRemoteJWKSet(new URL(config.jwksUrl), {
    [customFetch]: fetchKeys,
    cacheMaxAge: KEYS_MAX_AGE_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
    timeoutDuration: FETCH_TIMEOUT_MS,
  });
  /** Renews the keys in the background. No request waits for it, and if it fails, the present keys stay in use. */
  const renew = () => {
    const time = now().getTime();
    if (keys.jwks() === undefined) renewedAt = time;
    if (time - renewedAt < KEYS_RENEW_MS) return;
    renewedAt = time;
    keys.reload().catch((error: unknown) => {
      log.warn("the operators' keys were not renewed, the present ones stay in use", { error });
    });
  };
  const waiting = new FairLimit({
    capacity: KEYS_WAITING_MAX,
    perOwner: KEYS_WAITING_MAX,
    waitingMax: 0,
  });
  const findKey: JWTVerifyGetKey = async (header, token) => {
    const isKnown = keys.jwks()?.keys.some(({ kid }) => kid === header.kid) === true;
    // Neither of these waits for a request.
    if (keys.fresh && (isKnown || keys.coolingDown)) return await keys(header, token);
    const found = await waiting.run("tokens", 1, () => keys(header, token));
    if (found !== undefined) return found.result;
    throw new AppError("service_unavailable", "Too many requests wait for keys. Try again.", {
      retryAfterSeconds: FETCH_TIMEOUT_MS / 1000,
      isOverload: true,
    });
  };
  return { findKey, renew };
}

function operatorOf(payload: JWTPayload, tenantId: string | undefined): OperatorCaller {
  if (tenantId !== undefined && payload["tid"] !== tenantId)
    throw invalidCredentials({
      check: "tenant",
      expected: tenantId,
      found: boundedText(payload["tid"]),
    });
  const subject = [payload["oid"], payload.sub].find((id) => typeof id === "string" && id !== "");
  if (typeof subject !== "string")
    throw invalidCredentials({
      check: "subject",
      expected: "text in oid or sub",
      found: boundedText([payload["oid"], payload.sub]),
    });
  // The roles of a token. Only an array of texts counts, neither `scp` nor a single text.
  const roles = payload["roles"];
  return {
    kind: "operator",
    subject,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === "string") : [],
  };
}

/** Verifies access tokens of the operators' identity provider. Without its settings, no token is accepted. */
export function createOperators(config: OperatorConfig | undefined, deps: OperatorDeps): Operators {
  if (config === undefined) {
    const check = "settings";
    const expected = "ENTRA_TENANT_ID or OPERATOR_ISSUER, and OPERATOR_AUDIENCE";
    return { verify: () => Promise.reject(invalidCredentials({ check, expected })) };
  }
  const { findKey, renew } = openKeys(config, deps);
  const { issuers, audiences, jwksUrl, tenantId } = config;
  return {
    async verify(token) {
      renew();
      const now = deps.now();
      try {
        const { payload, protectedHeader } = await jwtVerify(token, findKey, {
          algorithms: ALGORITHMS,
          issuer: [...issuers],
          audience: [...audiences],
          requiredClaims: ["exp"],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: now,
        });
        checkAccessToken(protectedHeader, payload);
        return operatorOf(payload, tenantId);
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        // Whether the issuer's key set is the cause, and not the token.
        if (
          error instanceof errors.JWKSInvalid ||
          error instanceof errors.JWKSTimeout ||
          // The library uses this code for a key set that isn't JSON.
          error.code === errors.JOSEError.code
        )
          throw serviceUnavailable(error);
        const wanted = { issuers, audiences, algorithms: ALGORITHMS, keysFrom: jwksUrl, now };
        throw invalidCredentials(failedTokenCheck(error, token, wanted));
      }
    },
  };
}

const LIFETIME_SECONDS = 12 * 3600;
const SESSION = {
  type: "session+jwt",
  audience: "dashboard",
  secretSetting: "SESSION_SECRET",
  purpose: "session",
  claims: ["sub", "plt", "tv", "cu"],
  lifetimeSecondsMax: LIFETIME_SECONDS,
};

interface SessionClaims {
  readonly userId: string;
  readonly platformId: string;
  /** The user's session version when the token was issued. Raising the user's version ends every session. */
  readonly version: number;
}

/** A session that continues. It keeps its id and its end. */
interface PresentSession {
  readonly sessionId: string;
  readonly expiresAt: string;
}

/** How long the password counts as just entered. */
export const CONFIRMED_SECONDS = 600;

export interface IssuedSession {
  readonly token: string;
  readonly expiresIn: number;
  readonly expiresAt: string;
}

export interface ConfirmedSession extends IssuedSession {
  readonly confirmedUntil: string;
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

/** Issues and verifies the tokens of people who are logged in. */
export function createSessions(
  secrets: { readonly current: string; readonly previous?: string | undefined },
  now: () => Date,
) {
  const tokens = ownTokens(SESSION, secrets, now);
  return {
    /** Issues a token for a user who has just proved their identity, for a new session or the present one. */
    async issue(
      { userId, platformId, version }: SessionClaims,
      present?: PresentSession,
    ): Promise<ConfirmedSession> {
      const issuedAt = Math.floor(now().getTime() / 1000);
      const confirmedUntil = issuedAt + CONFIRMED_SECONDS;
      const claims = { sub: userId, plt: platformId, tv: version, cu: confirmedUntil };
      const expiresIn =
        present === undefined
          ? LIFETIME_SECONDS
          : Math.max(1, Math.floor(Date.parse(present.expiresAt) / 1000) - issuedAt);
      const jti = present === undefined ? {} : { jti: present.sessionId };
      const { token, expiresAt } = await tokens.sign({ ...claims, ...jti }, expiresIn);
      return { token, expiresIn, expiresAt, confirmedUntil: timeOf(confirmedUntil) };
    },
    /**
     * Returns the claims of a token that we issued and that has not expired. The user's present state isn't checked.
     * @throws AppError `session_expired`, `invalid_credentials`
     */
    async verify(token: string) {
      try {
        const { sub, plt, tv, jti, exp, cu } = await tokens.verify(token);
        if (typeof sub !== "string" || typeof plt !== "string" || typeof tv !== "number")
          throw invalidCredentials();
        if (typeof jti !== "string" || exp === undefined || typeof cu !== "number")
          throw invalidCredentials();
        const claims = { userId: sub, platformId: plt, version: tv, sessionId: jti };
        return { ...claims, expiresAt: timeOf(exp), confirmedUntil: timeOf(cu) };
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw sessionExpired();
        if (error instanceof errors.JOSEError)
          throw invalidCredentials(tokens.failedCheck(error, token));
        throw error;
      }
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;
