import { exchange } from "../contract/answers.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { follow } from "../contract/redirects.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { unescapeHtml } from "../contract/text.ts";

const PAGE_BYTES_MAX = 2_097_152;
const PAGE_TIMEOUT_MS = 8000;
/** What describes a page stands at its start. */
const HEAD_CHARACTERS_MAX = 300_000;
const META_TAGS_MAX = 300;
const TITLE_CHARACTERS_MAX = 300;
const DESCRIPTION_CHARACTERS_MAX = 1000;

export interface PageCard {
  readonly title: string;
  readonly description: string;
  readonly imageUrl: string | null;
}

/** Reads the page behind a link for its card. Undefined when there is none to be had, for whatever reason. */
export async function fetchPageCard(
  link: string,
  tools: NetworkTools,
): Promise<PageCard | undefined> {
  const { linkReader } = tools.service;
  const arrived = await follow(link, (url) =>
    exchange(tools, {
      method: "GET",
      url,
      headers: {
        accept: "text/html,application/xhtml+xml",
        ...(linkReader === undefined ? {} : { "user-agent": linkReader }),
      },
      timeoutMs: PAGE_TIMEOUT_MS,
      bytesMax: PAGE_BYTES_MAX,
    }),
  );
  if (typeof arrived === "string" || arrived.answer instanceof HttpFailure) return undefined;
  const { url, answer } = arrived;
  return answer.status === 200 || answer.status === 203 ? readPage(answer, url) : undefined;
}

function readPage(answer: HttpResponse, url: string): PageCard | undefined {
  const contentType = answer.headers["content-type"] ?? "";
  if (!/html/i.test(contentType)) return undefined;
  return pageCard(decode(answer.body, contentType), url);
}

function decode(body: Uint8Array, contentType: string): string {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // A charset that no one knows: nearly every page is UTF-8 whatever it says.
    return new TextDecoder().decode(body);
  }
}

/** Returns title, description and picture of a page, from its OpenGraph tags or from plain HTML. */
export function pageCard(html: string, pageUrl: string): PageCard | undefined {
  const head = html.slice(0, HEAD_CHARACTERS_MAX);
  const metas = metaTags(head);
  const plainTitle = /<title\b[^<>]*>([^<]+)/i.exec(head)?.[1] ?? "";
  const title = tidy(
    metas.get("og:title") ?? metas.get("twitter:title") ?? plainTitle,
    TITLE_CHARACTERS_MAX,
  );
  if (title === "") return undefined;
  const description = metas.get("og:description") ?? metas.get("description") ?? "";
  const image =
    metas.get("og:image:secure_url") ?? metas.get("og:image") ?? metas.get("twitter:image");
  return {
    title,
    description: tidy(description, DESCRIPTION_CHARACTERS_MAX),
    imageUrl: image === undefined ? null : pictureUrl(image, pageUrl),
  };
}

function metaTags(head: string): ReadonlyMap<string, string> {
  const metas = new Map<string, string>();
  for (const tag of head.split(/<meta\b/i, META_TAGS_MAX + 1).slice(1)) {
    const attributes = attributesOf(tag);
    const name = (attributes.get("property") ?? attributes.get("name") ?? "").toLowerCase();
    const content = attributes.get("content")?.trim();
    if (name !== "" && content && !metas.has(name)) metas.set(name, content);
  }
  return metas;
}

/** Attributes up to the tag's end. Every branch consumes, so that no page can make this slow. */
function attributesOf(tag: string): ReadonlyMap<string, string> {
  const attribute = /[\s/]*([a-z][\w:-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/iy;
  const attributes = new Map<string, string>();
  for (let match = attribute.exec(tag); match !== null; match = attribute.exec(tag)) {
    attributes.set((match[1] ?? "").toLowerCase(), match[2] ?? match[3] ?? match[4] ?? "");
  }
  return attributes;
}

function tidy(text: string, charactersMax: number): string {
  const line = unescapeHtml(text).replace(/\s+/g, " ").trim();
  // The cut may leave half an emoji, which would make the whole record invalid.
  return line.slice(0, charactersMax).toWellFormed();
}

function pictureUrl(text: string, pageUrl: string): string | null {
  const address = unescapeHtml(text);
  if (!URL.canParse(address, pageUrl)) return null;
  const url = new URL(address, pageUrl);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
}
