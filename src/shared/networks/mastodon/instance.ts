import { numberShape } from "../contract/answers.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange, isBlocked, oauthError } from "../contract/answers.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type LinkFailure, linkFailed } from "../contract/link.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { followRedirects } from "../contract/redirects.ts";
import { originOf } from "../contract/text.ts";
import { type LimitsOutcome, outage } from "../contract/outcome.ts";
import { inForm, probe } from "../contract/ask.ts";
import type { AccountCheck } from "../contract/network.ts";
import { classify, isOutage } from "./errors.ts";
import { postTraits } from "./servers.ts";
import { findSoftware } from "./software.ts";
import { type InstanceLimits, limitsOf } from "./limits.ts";
import { apiGet, requestHeaders, steps } from "./state.ts";

const MEDIA_TYPES_MAX = 100;
/** More than the text and the content warning of a post can have. */
const UNLIMITED_CHARACTERS = 100_000;

const group = shape(() => lenient(z.record(z.string(), z.unknown()), {}));
const instanceShape = objectShape(() => ({
  version: z.string(),
  domain: lenient(z.string()),
  uri: lenient(z.string()),
  max_toot_chars: z.unknown().optional(),
  max_media_attachments: z.unknown().optional(),
  description_limit: z.unknown().optional(),
  upload_limit: z.unknown().optional(),
  configuration: lenient(z.object({ statuses: group(), media_attachments: group() })),
  pleroma: lenient(z.object({ metadata: group() }), { metadata: {} }),
}));

export interface Instance {
  readonly origin: string;
  /** The domain that names the instance's accounts. It is not always the host that serves them. */
  readonly domain: string;
  readonly limits: InstanceLimits;
  /** Whether it describes itself only to its members. The limits are then only the usual ones. */
  readonly isHidden?: true;
}

/**
 * Checks whether a host has Mastodon's API, in the present form or that before 4.0. A server that describes itself only
 * to its members (Mastodon's `LIMITED_FEDERATION_MODE`) counts too. It is asked with a token later.
 */
export async function findInstance(
  origin: string,
  tools: NetworkTools,
  accessToken?: string,
): Promise<Instance | LinkFailure> {
  let home = origin;
  let isHidden = false;
  for (const path of ["/api/v2/instance", "/api/v1/instance"]) {
    const ask = (url: string) => {
      const isOwn = originOf(url) === origin && accessToken !== undefined;
      const headers = isOwn ? requestHeaders({ accessToken }) : {};
      return exchange(tools, { method: "GET", url, headers });
    };
    const arrived = await describe(home, path, ask);
    if (typeof arrived === "string") return linkFailed("instance_unsupported", arrived);
    const { url, answer } = arrived;
    if (answer instanceof HttpFailure) return linkFailed("instance_unreachable", answer.message);
    home = originOf(url) ?? home;
    const instance = readInstance(answer, home);
    if (instance !== undefined) return instance;
    if (isBlocked(answer)) return linkFailed("instance_protected", `HTTP ${answer.status}`);
    if (isOutage(answer)) return linkFailed("instance_unreachable", `HTTP ${answer.status}`);
    if (answer.status === 429) return linkFailed("rate_limited");
    isHidden = answer.status === 401 && oauthError(answer) !== undefined;
  }
  return isHidden
    ? { origin: home, domain: new URL(home).host, limits: limitsOf({}), isHidden }
    : linkFailed("instance_unsupported", "neither form of the instance's description is there");
}

/**
 * Requests an instance's description. People type the domain of their account, whose server may be at another host.
 * Some domains redirect every path to its start page.
 */
async function describe(
  origin: string,
  path: string,
  ask: (url: string) => Promise<HttpResponse | HttpFailure>,
) {
  const arrived = await followRedirects(`${origin}${path}`, ask);
  if (typeof arrived === "string" || arrived.answer instanceof HttpFailure) return arrived;
  const moved = originOf(arrived.url);
  const isElsewhere = moved !== undefined && moved !== origin;
  if (!isElsewhere || readInstance(arrived.answer, moved) !== undefined) return arrived;
  return await followRedirects(`${moved}${path}`, ask);
}

function readInstance(answer: HttpResponse, origin: string): Instance | undefined {
  const said = inForm(instanceShape)(answer);
  if (said === undefined) return undefined;
  const { domain, uri, configuration, pleroma } = said;
  const { statuses = {}, media_attachments: media = {} } = configuration ?? {};
  const charactersPerUrl = statedOf(statuses["characters_reserved_per_url"]);
  const isWhole = configuration !== undefined && charactersPerUrl === undefined;
  const fileBytesMax = said.upload_limit;
  const named = domain ?? uri?.replace(/^https?:\/\//, "").split("/", 1)[0];
  // The types that a server accepts; none if it accepts any, as Pleroma says with the type of unknown bytes.
  const value = media["supported_mime_types"];
  const types = Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  const takesAny = types.some((type) => type === "application/octet-stream" || type === "*/*");
  return {
    origin,
    domain: named || new URL(origin).host,
    limits: limitsOf({
      charactersMax: charactersMaxOf(statuses["max_characters"], said.max_toot_chars),
      charactersPerUrl,
      // A server that has a configuration without this one, such as Mitra, or with zero, such as Pleroma, counts links as
      // they are written. Mastodon had no configuration before 3.4.2.
      ...(isWhole && { counts: "codePoints" }),
      mediaMax: statedOf(statuses["max_media_attachments"], said.max_media_attachments),
      altTextMax: statedOf(
        media["description_limit"],
        said.description_limit,
        pleroma.metadata["description_limit"],
      ),
      imageBytesMax: statedOf(media["image_size_limit"], fileBytesMax),
      imagePixelsMax: statedOf(media["image_matrix_limit"]),
      // Mitra states one limit for all files, under the name of that for images.
      videoBytesMax: statedOf(media["video_size_limit"], fileBytesMax, media["image_size_limit"]),
      videoFrameRateMax: statedOf(media["video_frame_rate_limit"]),
      mediaTypes: takesAny ? [] : types.slice(0, MEDIA_TYPES_MAX),
    }),
  };
}

/** Returns the first number that a server states. Zero, null and less than zero state none. */
function statedOf(...values: readonly unknown[]): number | undefined {
  const numbers = values.map((value) => numberShape().safeParse(value).data ?? 0);
  const found = numbers.find((number) => number >= 1);
  return found && Math.min(Math.floor(found), Number.MAX_SAFE_INTEGER);
}

/**
 * Returns the limit of a text. Friendica states zero when a text may have any length (`max_import_size` in its
 * `static/defaults.config.php`).
 */
function charactersMaxOf(...values: readonly unknown[]): number | undefined {
  return statedOf(...values) ?? (values.includes(0) ? UNLIMITED_CHARACTERS : undefined);
}

/** Tokens last until they are revoked, and only a call can tell. */
export const mastodonAccountCheck: AccountCheck = {
  idleDaysMax: 3,
  probe: steps.checked(({ credentials, tools }) =>
    probe(apiGet(credentials, "accounts/verify_credentials"), classify, tools),
  ),
  readLimits: steps.checked(async ({ credentials, tools }): Promise<LimitsOutcome> => {
    const { origin, accessToken, software: known } = credentials;
    const shown = await findInstance(origin, tools);
    // Without a token if possible, because public data of a server is requested once for all its accounts.
    const isHidden = "isHidden" in shown;
    const instance = isHidden ? await findInstance(origin, tools, accessToken) : shown;
    if ("code" in instance) return outage(instance.note ?? instance.code);
    const software = known ?? (await findSoftware(origin, tools));
    if (typeof software === "object" && software !== null) return software;
    return { kind: "read", limits: { ...instance.limits, ...postTraits(software) } };
  }),
};
