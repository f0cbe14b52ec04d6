import { decodeJwt, decodeProtectedHeader, errors } from "jose";
import { boundedText, type FailedCheck } from "./errors.ts";

/** What a token has to say so that a verifier accepts it. */
export interface WantedToken {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  /** Where the keys come from: a URL, or the names of settings. */
  readonly keysFrom: string;
  readonly now: Date;
}

interface TokenParts {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

const atTime = (seconds: unknown) =>
  typeof seconds === "number" && Math.abs(seconds) < 8.64e12
    ? new Date(seconds * 1000).toISOString()
    : boundedText(seconds);

type ClaimCheck = (wanted: WantedToken, parts: TokenParts) => FailedCheck;

const CLAIMS: Readonly<Record<string, ClaimCheck>> = {
  iss: ({ issuers }, { claims }) => ({
    check: "issuer",
    expected: issuers.join(" or "),
    found: boundedText(claims["iss"]),
  }),
  aud: ({ audiences }, { claims }) => ({
    check: "audience",
    expected: audiences.join(" or "),
    found: boundedText(claims["aud"]),
  }),
  exp: ({ now }, { claims }) => ({
    check: "expiry",
    expected: `after ${now.toISOString()}`,
    found: atTime(claims["exp"]),
  }),
  nbf: ({ now }, { claims }) => ({
    check: "not before",
    expected: `before ${now.toISOString()}`,
    found: atTime(claims["nbf"]),
  }),
  iat: ({ now }, { claims }) => ({
    check: "issued at",
    expected: `lately, before ${now.toISOString()}`,
    found: atTime(claims["iat"]),
  }),
  typ: (_wanted, { header }) => ({ check: "type", found: boundedText(header["typ"]) }),
};

/** Returns the issuer and the audience that a token claims. They are read without verifying its signature. */
const unverified = ({ claims }: TokenParts) => ({
  unverified: { issuer: boundedText(claims["iss"]), audience: boundedText(claims["aud"]) },
});

/** Names the check that a token failed. Values of the token are shortened, and the token itself is never shown. */
export function failedTokenCheck(
  error: errors.JOSEError,
  token: string,
  wanted: WantedToken,
): FailedCheck {
  const read = (decode: (text: string) => object) => {
    try {
      return { ...decode(token) };
    } catch {
      return {};
    }
  };
  const parts: TokenParts = { header: read(decodeProtectedHeader), claims: read(decodeJwt) };
  const { algorithms, keysFrom } = wanted;
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const { claim } = error;
    const found = boundedText(parts.claims[claim]);
    return CLAIMS[claim]?.(wanted, parts) ?? { check: `claim ${claim}`, found };
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    const found = boundedText(parts.header["alg"]);
    return { check: "algorithm", expected: algorithms.join(" or "), found, ...unverified(parts) };
  }
  if (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  ) {
    const found = boundedText(parts.header["kid"]);
    return { check: "key id", expected: `one key of ${keysFrom}`, found, ...unverified(parts) };
  }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return {
      check: "signature",
      expected: `made with a key of ${keysFrom}`,
      ...unverified(parts),
    };
  return { check: "form", expected: "a signed JSON Web Token", found: boundedText(error.message) };
}
