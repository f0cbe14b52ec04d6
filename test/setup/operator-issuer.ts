import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import type { Outbound } from "../../src/shared/runtime/outbound.ts";

const LIFETIME_SECONDS = 3600;

interface OperatorClaims {
  readonly roles?: unknown;
  readonly issuer?: string;
  readonly audience?: string;
  readonly subject?: string;
  readonly expiresIn?: number;
  /** Claims in addition, or instead. An undefined one is left out. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Type in the header. Null is none, as Okta has it. */
  readonly type?: string | null;
}

/** The operators' identity provider: signs tokens and answers for its key set. */
export interface OperatorIssuer {
  readonly url: string;
  readonly audience: string;
  readonly jwksUrl: string;
  /** How often the key set was asked for. */
  fetches(): number;
  /** From now on signs with another key; the one before is withdrawn. */
  rotate(): Promise<void>;
  /** Whether the key set can be had. */
  setReachable(reachable: boolean): void;
  /** Holds back the next answers until they are released. `asked` resolves when the first is asked for. */
  holdKeys(): { readonly asked: Promise<void>; release(): void };
  /** From now on answers this text instead of its key set. */
  answerKeys(text: string): void;
  publicKeys(): { readonly keys: readonly JWK[] };
  token(claims: OperatorClaims, now: Date): Promise<string>;
  /** Answers the key set itself and passes everything else on. */
  inFrontOf(outbound: Outbound): Outbound;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function makeKey(kid: string, alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

export async function createOperatorIssuer(
  alg: "ES256" | "RS256" = "ES256",
): Promise<OperatorIssuer> {
  const url = "https://issuer.example.test";
  const audience = "api://relay";
  const jwksUrl = `${url}/keys`;
  let key = await makeKey("key-1", alg);
  let keyCount = 1;
  let fetches = 0;
  let reachable = true;
  let keysText: string | undefined;
  let onAsked = () => undefined as void;
  let held = Promise.resolve();
  const publicKeys = () => ({ keys: [key.jwk] });

  return {
    url,
    audience,
    jwksUrl,
    fetches: () => fetches,
    async rotate() {
      keyCount += 1;
      key = await makeKey(`key-${keyCount}`, alg);
    },
    setReachable: (value) => {
      reachable = value;
    },
    holdKeys() {
      const asked = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      [onAsked, held] = [asked.resolve, released.promise];
      return { asked: asked.promise, release: released.resolve };
    },
    answerKeys: (text) => {
      keysText = text;
    },
    publicKeys,
    token(claims, now) {
      const issuedAt = Math.floor(now.getTime() / 1000);
      return new SignJWT({ roles: claims.roles, scp: "access_as_user", ...claims.more })
        .setProtectedHeader({
          alg,
          kid: key.kid,
          ...(claims.type === null ? {} : { typ: claims.type ?? "JWT" }),
        })
        .setIssuer(claims.issuer ?? url)
        .setAudience(claims.audience ?? audience)
        .setSubject(claims.subject ?? "operator-1")
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + (claims.expiresIn ?? LIFETIME_SECONDS))
        .sign(key.privateKey);
    },
    inFrontOf: (outbound) => ({
      async request(request) {
        if (request.url !== jwksUrl) return await outbound.request(request);
        fetches += 1;
        onAsked();
        await held;
        if (!reachable) throw new HttpFailure("not_sent", "connect_failed");
        const text = keysText ?? JSON.stringify(publicKeys());
        return {
          status: 200,
          headers: { "content-type": "application/json" },
          body: new TextEncoder().encode(text),
          text: () => text,
          json: () => JSON.parse(text) as unknown,
        };
      },
      open: (request) => outbound.open(request),
      browserUrl: (address) => outbound.browserUrl(address),
      close: () => outbound.close(),
    }),
  };
}
