import { exchange } from "../contract/answers.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { follow } from "../contract/redirects.ts";
import type { NetworkTools } from "../contract/tools.ts";
import type { PageCard } from "./page-card.ts";

const PAGE_BYTES_MAX = 2_097_152;
const PAGE_TIMEOUT_MS = 8000;

export async function fetchPageCard(
  link: string,
  tools: NetworkTools,
): Promise<PageCard | undefined> {
  const { linkReader } = tools.service;
  const arrived = await follow(link, (url) =>
    exchange(tools, {
      method: "GET",
      url,
      headers: {
        accept: "text/html,application/xhtml+xml",
        ...(linkReader === undefined ? {} : { "user-agent": linkReader }),
      },
      timeoutMs: PAGE_TIMEOUT_MS,
      bytesMax: PAGE_BYTES_MAX,
    }),
  );
  if (typeof arrived === "string" || arrived.answer instanceof HttpFailure) return undefined;
  const { url, answer } = arrived;
  const contentType = answer.headers["content-type"] ?? "";
  const isPage = contentType === "" || /html/i.test(contentType);
  if (!isPage || (answer.status !== 200 && answer.status !== 203)) return undefined;
  // Loaded here, because few requests read a page.
  const { pageCard } = await import("./page-card.ts");
  return pageCard({ url, contentType, body: answer.body });
}
