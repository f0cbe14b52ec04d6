import { anyone } from "../shared/http/access/access.ts";
import { route, type Route } from "../shared/http/route.ts";
import type { HttpDeps } from "../shared/http/deps.ts";
import type { ReferenceName } from "../shared/http/reference/reference-texts.ts";
import { healthRoutes } from "./health.ts";

/** Makes what the routes that describe the API have in common. They load what they need when called. */
function readable(name: ReferenceName) {
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
      return serveReference(name, { config: services.config, headers });
    },
  } as const;
}

export const metaRoutes: readonly Route[] = [
  ...healthRoutes,
  route("GET", "v1/openapi.json", {
    operationId: "getOpenApi",
    summary: "Get the OpenAPI document",
    description: "The OpenAPI document of this API.",
    produces: "document",
    ...readable("openapi"),
  }),
  route("GET", "docs", {
    operationId: "getDocs",
    summary: "The reference as HTML",
    calledBy: "browsers",
    produces: "page",
    ...readable("docs"),
  }),
  route("GET", "docs.md", {
    operationId: "getDocsMarkdown",
    summary: "The reference as Markdown",
    calledBy: "browsers and language models",
    produces: "markdown",
    ...readable("markdown"),
  }),
  route("GET", "llms.txt", {
    operationId: "getLlmsIndex",
    summary: "An index of the reference, in the format of llmstxt.org",
    calledBy: "language models",
    produces: "markdown",
    ...readable("llms"),
  }),
];
