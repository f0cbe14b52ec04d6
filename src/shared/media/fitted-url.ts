import * as z from "zod";
import type { Config } from "../runtime/config.ts";
import type { ImageTarget } from "../networks/contract/media.ts";
import { seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import type { Clock } from "../runtime/clock.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";

/** A network may fetch a file as long as it works on the post, which on Instagram is a day. */
const LIFETIME_MS = 26 * 3_600_000;
const BOUND_TO = "media address";
const TOKEN_LENGTH_MAX = 6_000;

const claimsShape = shape(() =>
  z.strictObject({
    url: z.string(),
    /** Safe: the seal is ours, and so is what is under it. */
    target: z.custom<ImageTarget>((value) => typeof value === "object" && value !== null),
    until: z.number().int(),
  }),
);
export type FittedClaims = ShapeOf<typeof claimsShape>;

interface Issuing {
  readonly config: Pick<Config, "publicBaseUrl" | "identity">;
  readonly clock: Clock;
}

/** The address at which a network finds a customer's image as it takes it. Nothing of it is kept: the token says all. */
export function fittedUrl({ config, clock }: Issuing, url: string, target: ImageTarget): string {
  const claims: FittedClaims = { url, target, until: clock.now().getTime() + LIFETIME_MS };
  const token = seal(JSON.stringify(claims), BOUND_TO, config.identity.dataKeys);
  return `${config.publicBaseUrl}/v1/media/${token}`;
}

/** What a token of ours says, or undefined when it is none, was changed or has expired. */
export function openToken(token: string, keys: DataKeys, now: Date): FittedClaims | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  const text = unseal(token, BOUND_TO, keys);
  if (text === undefined) return undefined;
  const claims = claimsShape().safeParse(JSON.parse(text)).data;
  return claims !== undefined && claims.until > now.getTime() ? claims : undefined;
}
