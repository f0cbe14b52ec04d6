import { anyone } from "../shared/http/access/access.ts";
import { route, type Chapter, type Route } from "../shared/http/route.ts";
import type { HttpDeps } from "../shared/http/deps.ts";
import type { ReferenceName } from "../shared/http/reference/reference-texts.ts";
import { healthRoutes } from "./health.ts";

/** Makes what the routes that describe the API have in common. They load what they need when called. */
function readable(name: ReferenceName, chapters: () => readonly Chapter[]) {
  return {
    access: anyone,
    answerHeaders: ["Vary", "Content-Encoding"],
    run: async ({
      services,
      headers,
    }: {
      readonly services: HttpDeps;
      readonly headers: Headers;
    }) => {
      const { serveReference } = await import("../shared/http/reference/serve-reference.ts");
      return serveReference(name, chapters(), { config: services.config, headers });
    },
  } as const;
}

export function metaRoutes(chapters: () => readonly Chapter[]): readonly Route[] {
  return [
    ...healthRoutes,
    route("GET", "v1/openapi.json", {
      operationId: "getOpenApi",
      summary: "This description of the API, for machines.",
      produces: "document",
      ...readable("openapi", chapters),
    }),
    route("GET", "docs", {
      operationId: "getDocs",
      summary: "The same description for people.",
      produces: "page",
      ...readable("docs", chapters),
    }),
    route("GET", "docs.md", {
      operationId: "getDocsMarkdown",
      summary: "The same description in Markdown.",
      produces: "markdown",
      ...readable("markdown", chapters),
    }),
    route("GET", "llms.txt", {
      operationId: "getLlmsIndex",
      summary: "An index of the description for language models, in the form of llmstxt.org.",
      produces: "markdown",
      ...readable("llms", chapters),
    }),
  ];
}
