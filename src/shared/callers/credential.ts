import { AppError, type FailedCheck } from "../runtime/errors.ts";
import { parseApiKey } from "../runtime/secrets.ts";

/** The credential that a request presents. Its form shows its kind, but not whether it is valid. */
export interface Credential {
  readonly kind: "api_key" | "token";
  readonly text: string;
}

/** Longer than any token of ours or of an identity provider. Parsing longer ones would only take time. */
const LENGTH_MAX = 8 * 1024;

/** Makes the error for a wrong key or token. Its answer doesn't say what is wrong, so it is the same for all of them. */
export function invalidCredentials(failedCheck?: FailedCheck): AppError {
  const message =
    "The credentials are not valid. Check that the key or token is complete and belongs to this deployment.";
  return new AppError("invalid_credentials", message, { failedCheck });
}

/** Makes the error for a wrong login. Its answer doesn't say what is wrong, nor whether there is such an account. */
export function invalidLogin(failedCheck?: FailedCheck): AppError {
  return new AppError("invalid_credentials", "The credentials are not valid.", { failedCheck });
}

/** Makes the error for a session that we issued and that has ended, for any reason. */
export function sessionExpired(failedCheck?: FailedCheck): AppError {
  return new AppError("session_expired", "The session has ended. Log in again.", { failedCheck });
}

/** Reads the bearer credential of a request. @throws AppError 401 when there is none or it is too long */
export function readCredential(headers: Headers): Credential {
  const text = /^Bearer +(\S+)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  if (text === undefined)
    throw new AppError(
      "unauthenticated",
      "Send an API key or a session token as `Authorization: Bearer …`.",
    );
  if (text.length > LENGTH_MAX)
    throw invalidCredentials({
      check: "length",
      expected: `at most ${LENGTH_MAX} characters`,
      found: String(text.length),
    });
  return { kind: text.startsWith("sk_live_") ? "api_key" : "token", text };
}

const SIGNED_TOKEN = /^[\w-]{10,3000}\.[\w-]{10,5000}\.[\w-]{20,1000}$/;

/** Reports whether a credential has the form of an issued one. Anybody can make one of that form. */
export function isWellFormed({ kind, text }: Credential): boolean {
  return kind === "api_key" ? parseApiKey(text) !== undefined : SIGNED_TOKEN.test(text);
}
