import type { Chapter } from "../../src/shared/http/route.ts";
import { DOCS_POLICY } from "./docs-assets.ts";
import { docsPage } from "./docs-page.ts";
import { llmsIndex, toMarkdown } from "./docs-markdown.ts";
import { openApi } from "./openapi.ts";
import {
  BASE_URL_PLACE,
  SERVICE_NAME_PLACE,
  type ReferenceTexts,
} from "../../src/shared/http/reference/reference-texts.ts";

/** Returns the chapters with the routes that a customer's program calls, without chapters that have none. */
export function chaptersForPrograms(chapters: readonly Chapter[]): readonly Chapter[] {
  return chapters
    .map((chapter) => ({
      ...chapter,
      routes: chapter.routes.filter(({ spec }) => spec.calledBy === undefined),
    }))
    .filter(({ routes }) => routes.length > 0);
}

/**
 * Renders everything that describes the API, with placeholders for the relay's address and name. The build writes the
 * result to a file, so that no instance has to render.
 */
export function renderReference(chapters: readonly Chapter[]): ReferenceTexts {
  const document = openApi(chaptersForPrograms(chapters), BASE_URL_PLACE, SERVICE_NAME_PLACE);
  const { page, content } = docsPage(
    document,
    chapters.flatMap(({ routes }) => routes.filter(({ spec }) => spec.calledBy !== undefined)),
  );
  return {
    documents: {
      openapi: JSON.stringify(document),
      docs: page,
      markdown: toMarkdown(content),
      llms: llmsIndex(document),
    },
    docsPolicy: DOCS_POLICY,
  };
}
