import { readHead, type PageHead } from "./page-head.ts";

const TITLE_CHARACTERS_MAX = 300;
const DESCRIPTION_CHARACTERS_MAX = 1000;

export interface PageCard {
  readonly title: string;
  readonly description: string;
  readonly imageUrl: string | null;
}

export interface Page {
  readonly url: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

const TITLES = ["og:title", "twitter:title"];
const DESCRIPTIONS = ["og:description", "twitter:description", "description"];
const IMAGES = [
  "og:image:secure_url",
  "og:image",
  "og:image:url",
  "twitter:image",
  "twitter:image:src",
];

/** Returns title, description and picture of a page, from its Open Graph or Twitter tags or from plain HTML. */
export function pageCard({ url, contentType, body }: Page): PageCard | undefined {
  const head = readHead(body, contentType);
  const title = tidy(firstOf(head, TITLES) ?? head.title, TITLE_CHARACTERS_MAX);
  if (title === "") return undefined;
  const base = baseOf(head, url);
  // A page may name a picture for others that can't be fetched, such as one within the page itself.
  const images = [...IMAGES.map((name) => head.metas.get(name)), head.picture];
  const [image = null] = images.flatMap((address = "") => webUrl(address, base) ?? []);
  return {
    title,
    description: tidy(firstOf(head, DESCRIPTIONS) ?? "", DESCRIPTION_CHARACTERS_MAX),
    imageUrl: image,
  };
}

function firstOf({ metas }: PageHead, names: readonly string[]): string | undefined {
  return names.map((name) => metas.get(name)).find((content) => content !== undefined);
}

function tidy(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  // The cut may leave half an emoji, which would make the whole record invalid.
  return line.slice(0, charactersMax).toWellFormed();
}

function baseOf({ base }: PageHead, url: string): string {
  return base === undefined ? url : (webUrl(base, url) ?? url);
}

function webUrl(address: string, base: string): string | undefined {
  if (address === "" || !URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
}
