import type { Chapter } from "../route.ts";
import { docsPage } from "./docs-page.ts";
import { llmsIndex, toMarkdown } from "./docs-markdown.ts";
import { openApi } from "./openapi.ts";
import { BASE_URL_PLACE, SERVICE_NAME_PLACE, type ReferenceTexts } from "./reference-texts.ts";

/**
 * Renders everything that describes the API, with placeholders for the relay's address and name. The build runs this
 * and replaces it with the result, so that no instance has to render.
 */
export function renderReference(chapters: readonly Chapter[]): ReferenceTexts {
  const document = openApi(chapters, BASE_URL_PLACE, SERVICE_NAME_PLACE);
  const { page, content } = docsPage(document);
  return {
    openapi: JSON.stringify(document),
    docs: page,
    markdown: toMarkdown(content),
    llms: llmsIndex(document),
  };
}
