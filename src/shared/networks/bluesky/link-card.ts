import * as z from "zod";
import { exchange } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import { HttpFailure, type HttpRequest } from "../../runtime/http-call.ts";
import { MediaFailure } from "../contract/media.ts";
import { type WebPage, type PageCard, type ReadPage, shownCard } from "../contract/page-card.ts";
import { RedirectCookies } from "../contract/redirect-cookies.ts";
import { followRedirects } from "../contract/redirects.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { overHttps } from "../contract/web-address.ts";

/** How much of a page is read. Pages with large scripts have their tags behind these. */
const PAGE_BYTES_MAX = 2_097_152;
const PAGE_TIMEOUT_MS = 8000;
/** How many pages may send readers on by a tag before the one that has the content. */
const REFRESHES_MAX = 2;

/**
 * Returns the card of the page behind a link, as the page describes itself. Undefined when it can't be read, says
 * nothing about itself, or another page was sent instead: one that asks to log in or to agree to something.
 */
export async function fetchPageCard(
  link: string,
  tools: NetworkTools,
): Promise<PageCard | undefined> {
  return (await readPage(link, tools)) ?? (await describedFilm(link, tools));
}

async function readPage(link: string, tools: NetworkTools): Promise<PageCard | undefined> {
  let address = link;
  const cookies = new RedirectCookies();
  for (let pages = 0; pages <= REFRESHES_MAX; pages += 1) {
    const arrived = await followRedirects(
      address,
      (url, set) => exchange(tools, pageRequest(url, tools, set)),
      { cookies },
    );
    if (typeof arrived === "string" || arrived.answer instanceof HttpFailure) return undefined;
    const { url, answer } = arrived;
    const contentType = answer.headers["content-type"] ?? "";
    const isPage = contentType === "" || /html/i.test(contentType);
    if (!isPage || (answer.status !== 200 && answer.status !== 203)) return undefined;
    if (isOtherPage(link, url)) return undefined;
    const { card, next } = await inPage({ url, contentType, body: answer.body }, tools);
    if (next === undefined) return card;
    address = next;
  }
  return undefined;
}

/** Reads a page. One that can't be read in its time says nothing. */
async function inPage(page: WebPage, tools: NetworkTools): Promise<ReadPage> {
  try {
    return await tools.readPage(page);
  } catch (error) {
    if (error instanceof MediaFailure) return { card: undefined, next: undefined };
    throw error;
  }
}

function pageRequest(
  url: string,
  { service: { linkReader } }: NetworkTools,
  cookies: { readonly cookie?: string },
): HttpRequest {
  return {
    method: "GET",
    url: overHttps(url),
    headers: {
      accept: "text/html,application/xhtml+xml",
      ...(linkReader === undefined ? {} : { "user-agent": linkReader }),
      ...cookies,
    },
    timeoutMs: PAGE_TIMEOUT_MS,
    bytesMax: PAGE_BYTES_MAX,
    beyondMax: "cut",
  };
}

/** Words in the addresses of pages that stand before others. */
const GATE =
  /(?:^|[./])(?:accounts|auth|authwall|captcha|challenge|checkpoint|(?:collect)?consent|(?:service)?log-?in|sign-?in|sso)(?:$|[./])/i;
/** Parameters that say where a reader comes from, not where one goes next. */
const ORIGINS = /^(?:from|ref|referr?er|source|src|via|utm_\w+)$/i;

/** Each is compared with the link. No page in front of another one has as many. */
const PARAMETERS_MAX = 100;

const placeOf = ({ hostname, pathname }: URL) =>
  `${hostname.replace(/^www\./, "")}${pathname.replace(/\/$/, "")}`;

/**
 * Reports whether a link was redirected to a page that stands before the one that was linked: its address says so, or
 * has the link in it, to lead back there.
 */
function isOtherPage(link: string, arrived: string): boolean {
  const [from, to] = [new URL(link), new URL(arrived)];
  if (placeOf(from) === placeOf(to)) return false;
  if (GATE.test(placeOf(to)) && !GATE.test(placeOf(from))) return true;
  return [...to.searchParams]
    .slice(0, PARAMETERS_MAX)
    .some(
      ([name, value]) =>
        value !== "" &&
        from.searchParams.get(name) !== value &&
        !ORIGINS.test(name) &&
        URL.canParse(value, arrived) &&
        placeOf(new URL(value, arrived)) === placeOf(from),
    );
}

/** Where YouTube describes its films for programs (https://oembed.com). In Europe its pages are behind one of consent. */
const FILMS = {
  host: /^(?:(?:www\.|m\.|music\.)?youtube\.com|youtu\.be)$/,
  at: "https://www.youtube.com/oembed",
};

const filmShape = objectShape(() => ({
  title: z.string().trim().min(1),
  author_name: lenient(z.string(), ""),
  thumbnail_url: lenient(z.url()),
}));

async function describedFilm(link: string, tools: NetworkTools): Promise<PageCard | undefined> {
  if (!FILMS.host.test(new URL(link).hostname)) return undefined;
  const query = new URLSearchParams({ format: "json", url: overHttps(link) });
  const request = {
    method: "GET",
    url: `${FILMS.at}?${query.toString()}`,
    timeoutMs: PAGE_TIMEOUT_MS,
  } as const;
  const answer = await exchange(tools, request);
  const film = answer instanceof HttpFailure ? undefined : inForm(filmShape)(answer);
  if (film === undefined) return undefined;
  const { title, author_name: description, thumbnail_url: picture } = film;
  return shownCard({ title, description, imageUrls: picture === undefined ? [] : [picture] });
}
