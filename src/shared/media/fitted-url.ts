import * as z from "zod";
import {
  type ImageTarget,
  IMAGE_SOURCE_BYTES_MAX,
  MediaFailure,
  type FittedImage,
} from "../networks/contract/media.ts";
import { seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import { limitCalls } from "../runtime/limited-calls.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { AppError, serviceUnavailable, type FailedCheck } from "../runtime/errors.ts";
import type { MediaDeps } from "./deps.ts";
import { mediaRefusal } from "./media-request.ts";
import { fitImage } from "./fit-image.ts";
import { type OpenedMedia, openMedia } from "./open-media.ts";
import { FairLimit } from "../runtime/fair-limit.ts";
import { mediaReader } from "./media-reader.ts";

/** A network may fetch a file while it processes the post, which takes up to a day on Instagram. */
const LIFETIME_MS = 26 * 3_600_000;
const BOUND_TO = "media address";
/** The host refuses request lines of more than 8,192 bytes. */
const TOKEN_LENGTH_MAX = 7_500;

/** Unknown fields are ignored, because a later build's addresses reach every build that runs. */
const claimsShape = shape(() =>
  z.object({
    url: z.string(),
    /** The platform whose post has the image. A platform's images may be on any number of hosts. */
    owner: z.string(),
    /** The profile whose file it is, if it was uploaded here, and whether this is its preview. */
    file: z
      .object({ platformId: z.string(), profileId: z.string(), fileId: z.string() })
      .optional(),
    isPreview: z.literal(true).optional(),
    /** Safe: only this service seals tokens. */
    target: z.custom<ImageTarget>((value) => typeof value === "object" && value !== null),
    until: z.number().int(),
  }),
);
type FittedClaims = ShapeOf<typeof claimsShape>;

/** Opens a file that was uploaded here. @throws MediaFailure when it can't be used */
export type OpenTokenFile = (
  file: NonNullable<FittedClaims["file"]>,
  limits: { readonly bytesMax: number; readonly isPreview: boolean },
) => Promise<OpenedMedia>;

type Picture = Pick<FittedImage, "bytes" | "contentType">;

/** Pictures in memory by token, the oldest first. Networks usually fetch them within seconds. */
const kept = new Map<string, Picture>();
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
const KEPT_MS = 10 * 60_000;

function keep(token: string, { bytes, contentType }: Picture): void {
  kept.set(token, { bytes, contentType });
  setTimeout(() => kept.delete(token), KEPT_MS).unref();
  let length = [...kept.values()].reduce((sum, picture) => sum + picture.bytes.length, 0);
  for (const [oldest, picture] of kept) {
    if (length <= KEPT_BYTES_MAX) return;
    kept.delete(oldest);
    length -= picture.bytes.length;
  }
}

/**
 * Makes the address of a customer's image, fitted for a network. The token contains all data, so nothing is stored. The
 * picture, if given, stays in memory for a while. Otherwise each post would fetch and fit its image twice.
 * @throws MediaFailure when the image's own address is too long to be in a token
 */
export function fittedUrl(
  { config, clock }: Pick<MediaDeps, "config" | "clock">,
  { fitted, ...named }: Omit<FittedClaims, "until"> & { readonly fitted?: Picture | undefined },
): string {
  const claims: FittedClaims = { ...named, until: clock.now().getTime() + LIFETIME_MS };
  const token = seal(JSON.stringify(claims), BOUND_TO, config.identity.dataKeys);
  if (token.length > TOKEN_LENGTH_MAX)
    throw mediaRefusal("address", `${named.url.length} characters`);
  if (fitted !== undefined) keep(token, fitted);
  return `${config.publicBaseUrl}/v1/media/public/${token}`;
}

/** Opens a token. @throws AppError 404 when it is invalid, was changed or has expired */
function openToken(token: string, keys: DataKeys, now: Date): FittedClaims {
  const text = token.length > TOKEN_LENGTH_MAX ? undefined : unseal(token, BOUND_TO, keys);
  const claims = text === undefined ? undefined : claimsShape().safeParse(JSON.parse(text)).data;
  if (claims === undefined)
    throw fileNotFound({ check: "seal", expected: "an address sealed with a key of DATA_KEYS" });
  if (claims.until > now.getTime()) return claims;
  const [expected, found] = [now, new Date(claims.until)].map((time) => time.toISOString());
  throw fileNotFound({ check: "expiry", expected: `after ${expected}`, found });
}

/** How long a page shows the preview of a file that was deleted since. */
const PREVIEW_FRESH_SECONDS = 5 * 60;
/** The caller has given up by then. */
const SERVE_MS_MAX = 100_000;

/**
 * Anybody who has an address may fetch it any number of times. These slots leave some of the host's (`host.json`) to
 * other requests; what is decoded at a time has limits of its own. One platform whose servers are slow holds two of six.
 * A network that publishes a carousel asks for its ten images together, and refusing one fails the post's attempt.
 */
const slots = new FairLimit({ capacity: 6, perOwner: 2, waitingMax: 10, waitingOfOwnerMax: 10 });

export interface ServedImage extends Picture {
  /** How long a copy may be cached. */
  readonly freshSeconds: number;
  /** Whether only the reader may cache it. Previews are for the file's owner, who may delete it. */
  readonly isPrivate: boolean;
}

const fileNotFound = (failedCheck?: FailedCheck) =>
  new AppError("not_found", "There is no such file.", { failedCheck });

/**
 * Returns the image of an address that `fittedUrl` made. It is fetched and fitted again when it is no longer in memory.
 * @throws AppError 404 when the token is invalid or its image is refused; 503 when the image can't be fetched now
 */
export async function serveFitted(
  deps: MediaDeps & { readonly openFile: OpenTokenFile },
  token: string,
): Promise<ServedImage> {
  const now = deps.clock.now();
  const claims = openToken(token, deps.config.identity.dataKeys, now);
  const fitted =
    kept.get(token) ??
    (
      await slots.run(claims.owner, 1, () =>
        withTimeLimit(SERVE_MS_MAX, fit(deps, claims), () => {
          throw serviceUnavailable();
        }),
      )
    )?.result;
  if (fitted === undefined) throw serviceUnavailable();
  const { bytes, contentType } = fitted;
  const isPrivate = claims.isPreview === true;
  const leftSeconds = Math.floor((claims.until - now.getTime()) / 1000);
  const freshSeconds = isPrivate ? Math.min(leftSeconds, PREVIEW_FRESH_SECONDS) : leftSeconds;
  return { bytes, contentType, freshSeconds, isPrivate };
}

async function fit(
  deps: Pick<MediaDeps, "config" | "log" | "outbound"> & { readonly openFile: OpenTokenFile },
  claims: FittedClaims,
): Promise<FittedImage> {
  const { url, owner, target, file: own, isPreview = false } = claims;
  const readBy = { reader: mediaReader, owner };
  try {
    const calls = limitCalls(deps, { totalMs: SERVE_MS_MAX, owner });
    const bytesMax = IMAGE_SOURCE_BYTES_MAX;
    const file =
      own === undefined
        ? await openMedia(calls, url, { bytesMax, readBy })
        : await deps.openFile(own, { bytesMax, isPreview });
    try {
      return await fitImage(file, target, readBy);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    deps.log.info("media not served", { code: error.code, reason: error.message });
    const isLater = error.code === "media_unreachable" && error.fileRule === undefined;
    throw isLater ? serviceUnavailable() : fileNotFound();
  }
}
