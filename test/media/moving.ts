import { parseConfig } from "../../src/shared/config/config.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { multipartWithFile } from "../../src/shared/networks/contract/multipart.ts";
import { createOutbound } from "../../src/shared/runtime/outbound.ts";

/** A process of its own that passes a file on, from its server to a network, and tells how much memory that took. */
const [source = "", sink = "", settings = "{}"] = process.argv.slice(2);
const outbound = createOutbound(
  parseConfig({
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    ...(JSON.parse(settings) as Record<string, string>),
  }),
);
const rss = () => process.memoryUsage().rss;

const file = await openMedia(outbound, source, { bytesMax: 1_000_000_000 });
const before = rss();
let most = before;
const timer = setInterval(() => (most = Math.max(most, rss())), 5);
const part = { name: "file", filename: "clip.mp4", contentType: file.contentType, body: file };
const form = multipartWithFile({ description: "A long clip" }, part);
const answer = await outbound.request({ method: "POST", url: sink, ...form, timeoutMs: 120_000 });
clearInterval(timer);
process.stdout.write(JSON.stringify({ status: answer.status, size: file.size, before, most }));
await outbound.close();
