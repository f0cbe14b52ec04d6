import { anyone } from "../shared/http/access/access.ts";
import type { Chapter } from "../shared/http/reference/chapter.ts";
import { document, htmlReply } from "../shared/http/reply.ts";
import { route, type Route } from "../shared/http/route.ts";
import { healthRoutes } from "./health.ts";

/** The routes about the service itself. The two that describe it read all chapters, and load what they need for it. */
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
        return document(openApi(chapters(), services.config.publicBaseUrl));
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
        const { text, headers } = docsPage(chapters(), services.config.publicBaseUrl);
        return htmlReply(text, { headers });
      },
    }),
  ];
}
