import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { fittedUrl, serveFitted } from "../../src/shared/media/fitted-url.ts";
import { createLog } from "../../src/shared/runtime/log.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => undefined);
const target = { types: ["image/jpeg"], bytesMax: 8_000_000, plays: [], turnsByExif: false };

test("slow servers of one platform, on however many hosts, leave slots for the images of another", async () => {
  const config = parseConfig({
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
  });
  const asked: string[] = [];
  const outbound = {
    request: never,
    open({ url }: { readonly url: string }) {
      asked.push(new URL(url).hostname);
      return never();
    },
    browserUrl: (url: string) => url,
    close: () => Promise.resolve(),
  };
  const clock = { now: () => new Date("2026-03-04T10:00:00Z") };
  const services = {
    config,
    clock,
    outbound,
    log: createLog({ level: "error", sink: () => undefined }),
    openFile: () => Promise.reject(new Error("no file was uploaded here")),
  };
  const serve = (owner: string, host: string) => {
    const address = fittedUrl(services, { url: `https://${host}/photo.jpg`, owner, target });
    const token = new URL(address).pathname.split("/").at(-1) ?? "";
    void serveFitted(services, token).catch(() => undefined);
  };
  for (let host = 0; host < 12; host += 1) serve("plt_hostile", `images-${host}.hostile.example`);
  await vi.advanceTimersByTimeAsync(10);
  serve("plt_other", "other.example");
  await vi.advanceTimersByTimeAsync(10);
  expect(asked).toEqual(["images-0.hostile.example", "images-1.hostile.example", "other.example"]);
});
