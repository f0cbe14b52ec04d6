import { fittedUrl } from "../media/fitted-url.ts";
import { type ImageTarget, READABLE_IMAGES } from "../networks/contract/media.ts";
import type { Problem } from "../networks/contract/rules.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { NetworkName } from "../networks/networks.ts";
import { inWords } from "../networks/wording.ts";
import { withDocUrl } from "../runtime/doc-url.ts";
import type { Locale } from "../runtime/locale.ts";
import type { FilesDeps } from "./deps.ts";
import type { UploadedFile, FileFault, FileRef } from "./file.ts";
import { misfitsOf } from "./fits.ts";

const PREVIEW_EDGE = 512;

/** A small picture for pages that show files. */
const PREVIEW: ImageTarget = {
  types: ["image/jpeg"],
  bytesMax: 1024 * 1024,
  edgeMax: PREVIEW_EDGE,
  plays: [],
  turnsByExif: false,
};

/** Where a file is uploaded to. */
export interface Upload {
  readonly method: "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: string;
}

const PATH = /^\/v1\/media\/([^/]+)\/content$/;

/** Returns a path as a host may route it: without regard to case, escapes and doubled slashes. */
function routedPath(pathname: string): string {
  // An escape that stands for no character leads nowhere.
  const plain = pathname.replace(/%([0-7][0-9a-f])/gi, (_escape, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return plain.replace(/[\\/]+/g, "/").toLowerCase();
}

/** Returns the address of a file, at which posts name it. */
const fileUrlOf = (baseUrl: string, fileId: string) => `${baseUrl}/v1/media/${fileId}/content`;

/**
 * Returns the id of the file that an address names, or null for an address of the media routes that is none of a file.
 * Undefined for an address elsewhere.
 */
export function namedFile(baseUrl: string, url: string): string | null | undefined {
  const base = new URL(baseUrl);
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(url);
  const prefix = base.pathname.replace(/\/$/, "");
  if (origin !== base.origin || !routedPath(pathname).startsWith(routedPath(`${prefix}/v1/media/`)))
    return undefined;
  const isPlain = search === "" && hash === "" && username === "" && password === "";
  const [, id = null] = PATH.exec(pathname.slice(prefix.length)) ?? [];
  return isPlain && pathname.startsWith(prefix) ? id : null;
}

/** Returns what is wrong with an upload, as a finding that belongs to no network. */
function faultFinding(fault: FileFault, locale: Locale, baseUrl: string) {
  const found = {
    code: "media_rejected" as const,
    rule: `upload.${fault}`,
    values: {},
    field: null,
    mediaIndex: null,
  };
  return withDocUrl(inWords(found, { network: "", locale }), baseUrl);
}

/** Returns why an upload was refused, and the finding about it. */
export function rejectionOf(
  { config }: Pick<FilesDeps, "config">,
  fault: FileFault,
  locale: Locale = "en",
) {
  const { publicBaseUrl } = config;
  const { message } = faultFinding(fault, "en", publicBaseUrl);
  return { reason: fault, message, problems: [faultFinding(fault, locale, publicBaseUrl)] };
}

function fitsView(
  { config }: Pick<FilesDeps, "config">,
  { id, facts }: Pick<UploadedFile, "id" | "facts">,
  locale: Locale,
) {
  if (facts === null) return null;
  const { publicBaseUrl } = config;
  const misfits = misfitsOf(fileUrlOf(publicBaseUrl, id), facts);
  const fitOf = (network: NetworkName) => {
    const shown = ({ severity: _error, ...problem }: Problem) =>
      withDocUrl(inWords(problem, { network, locale }), publicBaseUrl);
    const problems = misfits[network].map(shown);
    return { ok: problems.length === 0, problems };
  };
  // Safe: one entry for every network.
  return Object.fromEntries(NETWORK_NAMES.map((name) => [name, fitOf(name)])) as Record<
    NetworkName,
    ReturnType<typeof fitOf>
  >;
}

/** Returns a file as its owner sees it. `upload` is where it is uploaded to, for a new one. */
export function fileView(
  deps: Pick<FilesDeps, "config" | "clock">,
  file: UploadedFile,
  {
    locale = "en",
    upload = null,
  }: { readonly locale?: Locale | undefined; readonly upload?: Upload | null },
) {
  const { id, profileId, platformId, announced, facts, fault, state } = file;
  const { publicBaseUrl } = deps.config;
  const url = fileUrlOf(publicBaseUrl, id);
  const ref: FileRef = { platformId, profileId, fileId: id };
  const isPicture = facts !== null && READABLE_IMAGES.includes(facts.contentType);
  return {
    id,
    profileId,
    filename: announced.filename,
    // Safe: the deleted are not shown.
    status: state as Exclude<typeof state, "deleted">,
    contentType: announced.contentType,
    bytes: announced.bytes,
    width: facts?.width ?? null,
    height: facts?.height ?? null,
    durationSeconds: facts?.durationSeconds ?? null,
    animated: facts?.image == null ? null : facts.image.frames > 1,
    url,
    previewUrl: isPicture
      ? fittedUrl(deps, { url, owner: platformId, target: PREVIEW, file: ref, isPreview: true })
      : null,
    fits: fitsView(deps, file, locale),
    problem: fault && {
      code: "media_rejected" as const,
      reason: fault,
      message: faultFinding(fault, locale, publicBaseUrl).message,
    },
    upload,
    createdAt: file.createdAt,
    completedAt: file.completedAt,
    keptUntil: file.keptUntil,
  };
}

export type FileView = ReturnType<typeof fileView>;
