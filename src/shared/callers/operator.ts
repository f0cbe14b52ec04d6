import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload } from "jose";
import type { OperatorConfig } from "../runtime/config.ts";
import { serviceUnavailable } from "../runtime/errors.ts";
import type { Outbound } from "../runtime/outbound.ts";
import type { OperatorCaller } from "./caller.ts";
import { invalidCredentials } from "./credential.ts";

/** Keys stay in use this long while their endpoint can't be reached; unknown keys are looked up this seldom. */
const KEYS_MAX_AGE_MS = 24 * 3600 * 1000;
const KEYS_COOLDOWN_MS = 5 * 60 * 1000;
/** Withdrawn keys stop working after this long. */
const KEYS_RENEW_MS = 3600 * 1000;
const FETCH_TIMEOUT_MS = 5_000;
const KEYS_BYTES_MAX = 256 * 1024;
const CLOCK_TOLERANCE_SECONDS = 60;

export interface Operators {
  /** @throws AppError `invalid_credentials`; `service_unavailable` when the issuer's keys can't be had */
  verify(token: string): Promise<OperatorCaller>;
}

function openKeys(config: OperatorConfig, outbound: Outbound, now: () => Date) {
  let renewedAt = 0;
  const fetchKeys = async (url: string): Promise<Response> => {
    try {
      const answer = await outbound.request({
        method: "GET",
        url,
        headers: { accept: "application/json" },
        timeoutMs: FETCH_TIMEOUT_MS,
        bytesMax: KEYS_BYTES_MAX,
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
  /** In the background: a request never waits for it, and while it fails the keys at hand stay in use. */
  const renew = () => {
    const time = now().getTime();
    if (keys.jwks() === undefined) renewedAt = time;
    if (time - renewedAt < KEYS_RENEW_MS) return;
    renewedAt = time;
    keys.reload().catch(() => undefined);
  };
  return { keys, renew };
}

/** Only an array of texts gives roles: neither `scp` nor a single text does. */
function rolesOf(payload: JWTPayload): readonly string[] {
  const roles = payload["roles"];
  return Array.isArray(roles) ? roles.filter((role) => typeof role === "string") : [];
}

/** Access tokens of the operators' identity provider. Without its settings no token is accepted. */
export function createOperators(
  config: OperatorConfig | undefined,
  outbound: Outbound,
  now: () => Date,
): Operators {
  if (config === undefined) return { verify: () => Promise.reject(invalidCredentials()) };
  const { keys, renew } = openKeys(config, outbound, now);
  return {
    async verify(token) {
      renew();
      try {
        const { payload } = await jwtVerify(token, keys, {
          algorithms: ["RS256", "ES256"],
          issuer: [...config.issuers],
          audience: config.audience,
          requiredClaims: ["exp"],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: now(),
        });
        if (config.tenantId !== undefined && payload["tid"] !== config.tenantId)
          throw invalidCredentials();
        const subject = [payload["oid"], payload.sub].find(
          (id) => typeof id === "string" && id !== "",
        );
        if (typeof subject !== "string") throw invalidCredentials();
        return { kind: "operator", subject, roles: rolesOf(payload) };
      } catch (error) {
        if (error instanceof errors.JOSEError) throw invalidCredentials();
        throw error;
      }
    },
  };
}
