import { anyone } from "../shared/http/access/access.ts";
import { route, type Chapter, type Route } from "../shared/http/route.ts";
import { document, htmlReply } from "../shared/http/reply.ts";
import { healthRoutes } from "./health.ts";

/** Returns the routes about the service itself. The two that describe the API read all chapters, and load what they need when called. */
export function metaRoutes(chapters: () => readonly Chapter[]): readonly Route[] {
  return [
    ...healthRoutes,
    route("GET", "v1/openapi.json", {
      operationId: "getOpenApi",
      summary: "This description of the API, for machines.",
      access: anyone,
      status: 200,
      produces: "document",
      run: async ({ services }) => {
        const { openApi } = await import("../shared/http/reference/openapi.ts");
        return document(
          openApi(chapters(), services.config.publicBaseUrl, services.config.service.name),
        );
      },
    }),
    route("GET", "docs", {
      operationId: "getDocs",
      summary: "The same description for people.",
      access: anyone,
      status: 200,
      produces: "page",
      run: async ({ services }) => {
        const { docsPage } = await import("../shared/http/reference/docs-page.ts");
        const { text, headers } = docsPage(
          chapters(),
          services.config.publicBaseUrl,
          services.config.service.name,
        );
        return htmlReply(text, { headers });
      },
    }),
  ];
}
