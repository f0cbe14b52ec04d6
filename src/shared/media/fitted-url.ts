import * as z from "zod";
import type { Config } from "../runtime/config.ts";
import {
  type ImageTarget,
  IMAGE_SOURCE_BYTES_MAX,
  MediaFailure,
  type FittedImage,
} from "../networks/contract/media.ts";
import { seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import type { Clock } from "../runtime/clock.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { AppError, serviceUnavailable } from "../runtime/errors.ts";
import type { MediaDeps } from "./deps.ts";
import { fitImage } from "./fit-image.ts";
import { openMedia } from "./open-media.ts";
import { FairSlots } from "./fair-slots.ts";
import { mediaReader } from "./media-reader.ts";

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
type FittedClaims = ShapeOf<typeof claimsShape>;

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
function openToken(token: string, keys: DataKeys, now: Date): FittedClaims | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  const text = unseal(token, BOUND_TO, keys);
  if (text === undefined) return undefined;
  const claims = claimsShape().safeParse(JSON.parse(text)).data;
  return claims !== undefined && claims.until > now.getTime() ? claims : undefined;
}

/** Whoever has an address may ask for it any number of times: never more at once than leaves room for publishing. */
const slots = new FairSlots({ capacity: 2, perOwner: 1, waitingMax: 16 });

export interface ServedImage extends Pick<FittedImage, "bytes" | "contentType"> {
  /** How long a copy may be kept. */
  readonly freshSeconds: number;
}

const notFound = () => new AppError("not_found", "There is no such file.");

/**
 * The image of an address that `fittedUrl` made: fetched and fitted anew each time.
 * @throws AppError 404 when the token is not ours or has expired, or its image can't be had; 503
 */
export async function serveFitted(services: MediaDeps, token: string): Promise<ServedImage> {
  const now = services.clock.now();
  const claims = openToken(token, services.config.identity.dataKeys, now);
  if (claims === undefined) throw notFound();
  const fitted = await slots.run(hostOf(claims), 1, () => fit(services, claims));
  if (fitted === undefined) throw serviceUnavailable();
  const { bytes, contentType } = fitted;
  return { bytes, contentType, freshSeconds: Math.floor((claims.until - now.getTime()) / 1000) };
}

const hostOf = ({ url }: FittedClaims) => new URL(url).host;

async function fit(services: MediaDeps, claims: FittedClaims): Promise<FittedImage> {
  const { url, target } = claims;
  const readBy = { reader: mediaReader, owner: `host ${hostOf(claims)}` };
  const bytesMax = IMAGE_SOURCE_BYTES_MAX;
  try {
    const file = await openMedia(services.outbound, url, { bytesMax, readBy });
    try {
      return await fitImage(file, target, readBy);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    services.log.info("media not served", { code: error.code, reason: error.message });
    throw error.code === "media_unreachable" ? serviceUnavailable() : notFound();
  }
}
