import { isBlank, shortenedText } from "./text.ts";

const TITLE_CHARACTERS_MAX = 300;
const DESCRIPTION_CHARACTERS_MAX = 1000;
/** Pictures that are tried if others can't be used. */
const IMAGES_MAX = 4;

export interface PageCard {
  readonly title: string;
  readonly description: string;
  /** Pictures in the order in which the page names them. The first one that can be used is shown. */
  readonly imageUrls: readonly string[];
}

export interface WebPage {
  readonly url: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** What a page says of itself, or to which page it sends its readers on. */
export interface ReadPage {
  readonly card: PageCard | undefined;
  readonly next: string | undefined;
}

/** Returns a card with texts as long as a card shows. Undefined without a title. */
export function shownCard({ title, description, imageUrls }: PageCard): PageCard | undefined {
  const shown = tidyText(title, TITLE_CHARACTERS_MAX);
  if (isBlank(shown)) return undefined;
  return {
    title: shown,
    description: tidyText(description, DESCRIPTION_CHARACTERS_MAX),
    imageUrls: [...new Set(imageUrls)].slice(0, IMAGES_MAX),
  };
}

function tidyText(text: string, charactersMax: number): string {
  return shortenedText(text.replace(/\s+/g, " ").trim().toWellFormed(), charactersMax);
}
