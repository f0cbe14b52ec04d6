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
  const image = firstOf(head, IMAGES);
  return {
    title,
    description: tidy(firstOf(head, DESCRIPTIONS) ?? "", DESCRIPTION_CHARACTERS_MAX),
    imageUrl: image === undefined ? null : pictureUrl(image, baseOf(head, url)),
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

const pictureUrl = (address: string, base: string): string | null => webUrl(address, base) ?? null;

function webUrl(address: string, base: string): string | undefined {
  if (!URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
}
