import * as z from "zod";
import type { Config } from "../runtime/config.ts";
import {
  type ImageTarget,
  IMAGE_SOURCE_BYTES_MAX,
  MediaFailure,
  type FittedImage,
} from "../networks/contract/media.ts";
import { seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import type { Clock } from "../runtime/process.ts";
import { limitCalls } from "../runtime/limited-calls.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { AppError, serviceUnavailable, type FailedCheck } from "../runtime/errors.ts";
import type { MediaDeps } from "./deps.ts";
import { fitImage } from "./fit-image.ts";
import { openMedia } from "./open-media.ts";
import { FairLimit } from "../runtime/fair-limit.ts";
import { mediaReader } from "./media-reader.ts";

/** A network may fetch a file while it processes the post, which takes up to a day on Instagram. */
const LIFETIME_MS = 26 * 3_600_000;
const BOUND_TO = "media address";
const TOKEN_LENGTH_MAX = 6_000;

/** What a later build adds is passed over: its addresses are asked of every build that runs. */
const claimsShape = shape(() =>
  z.object({
    url: z.string(),
    /** Safe: only this service seals tokens. */
    target: z.custom<ImageTarget>((value) => typeof value === "object" && value !== null),
    until: z.number().int(),
  }),
);
type FittedClaims = ShapeOf<typeof claimsShape>;

interface Issuing {
  readonly config: Pick<Config, "publicBaseUrl" | "identity">;
  readonly clock: Clock;
}

/** Returns the address of a customer's image, fitted for a network. The token has all data; nothing is stored. */
export function fittedUrl({ config, clock }: Issuing, url: string, target: ImageTarget): string {
  const claims: FittedClaims = { url, target, until: clock.now().getTime() + LIFETIME_MS };
  const token = seal(JSON.stringify(claims), BOUND_TO, config.identity.dataKeys);
  return `${config.publicBaseUrl}/v1/media/${token}`;
}

/** Opens a token. @throws AppError 404 when it is not valid, was changed or has expired */
function openToken(token: string, keys: DataKeys, now: Date): FittedClaims {
  const text = token.length > TOKEN_LENGTH_MAX ? undefined : unseal(token, BOUND_TO, keys);
  const claims = text === undefined ? undefined : claimsShape().safeParse(JSON.parse(text)).data;
  if (claims === undefined)
    throw notFound({ check: "seal", expected: "an address sealed with a key of DATA_KEYS" });
  if (claims.until > now.getTime()) return claims;
  const [expected, found] = [now, new Date(claims.until)].map((time) => time.toISOString());
  throw notFound({ check: "expiry", expected: `after ${expected}`, found });
}

/** The caller is gone by then. */
const SERVE_MS_MAX = 100_000;

/** Anybody with an address may fetch it any number of times: this leaves room for publishing. */
const slots = new FairLimit({ capacity: 2, perOwner: 1, waitingMax: 16 });

export interface ServedImage extends Pick<FittedImage, "bytes" | "contentType"> {
  /** How long a copy may be kept. */
  readonly freshSeconds: number;
}

const notFound = (failedCheck?: FailedCheck) =>
  new AppError("not_found", "There is no such file.", { failedCheck });

/**
 * Returns the image of an address that `fittedUrl` made. Fetches and fits it each time.
 * @throws AppError 404 when the token is not valid or its image is refused; 503 when the image can't be fetched now
 */
export async function serveFitted(services: MediaDeps, token: string): Promise<ServedImage> {
  const now = services.clock.now();
  const claims = openToken(token, services.config.identity.dataKeys, now);
  const fitted = await slots.run(hostOf(claims), 1, () => fitInTime(services, claims));
  if (fitted === undefined) throw serviceUnavailable();
  const { bytes, contentType } = fitted;
  return { bytes, contentType, freshSeconds: Math.floor((claims.until - now.getTime()) / 1000) };
}

const hostOf = ({ url }: FittedClaims) => new URL(url).host;

function fitInTime(services: MediaDeps, claims: FittedClaims): Promise<FittedImage> {
  return withTimeLimit(SERVE_MS_MAX, fit(services, claims), () => {
    throw serviceUnavailable();
  });
}

async function fit(services: MediaDeps, claims: FittedClaims): Promise<FittedImage> {
  const { url, target } = claims;
  const owner = `host ${hostOf(claims)}`;
  const readBy = { reader: mediaReader, owner };
  const bytesMax = IMAGE_SOURCE_BYTES_MAX;
  try {
    const calls = limitCalls(services, { totalMs: SERVE_MS_MAX, owner });
    const file = await openMedia(calls, url, { bytesMax, readBy });
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
