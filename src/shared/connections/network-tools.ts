import { HttpFailure } from "../runtime/http-call.ts";
import { isStorable } from "../networks/contract/bounded.ts";
import type { NetworkTools } from "../networks/contract/tools.ts";
import type { MediaFile } from "../networks/contract/media.ts";
import type { NetworkName } from "../networks/lookup.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { fittedUrl } from "../media/fitted-url.ts";
import type { ReadByFile } from "../media/media-reader.ts";

/** Loaded when a post's files are first read: most requests never need them. */
const media = {
  reader: () => import("../media/media-reader.ts"),
  open: () => import("../media/open-media.ts"),
  fit: () => import("../media/fit-image.ts"),
};

export interface ToolLimits {
  readonly callMs: number;
  /** The limit from when the tools were made; no call goes on beyond it. */
  readonly totalMs: number;
}

/**
 * Returns the tools that a network works with. Without `limits`, every call has the network timeout of the settings.
 * With them, a step that a person waits for ends in time.
 */
export function createNetworkTools(
  services: ConnectionsDeps,
  network: NetworkName,
  limits?: ToolLimits,
  readByFile: ReadByFile = (reader) => ({ reader, owner: "" }),
): NetworkTools {
  const startedAt = performance.now();
  const opened = new WeakMap<MediaFile, string>();
  const readBy = async (url: string) => readByFile((await media.reader()).mediaReader, url);
  const readByOf = (file: MediaFile) => readBy(opened.get(file) ?? "");
  return {
    app: services.config.networkApps[network],
    service: services.config.service,
    async http(request) {
      if (limits === undefined) return await services.outbound.request(request);
      const leftMs = Math.floor(limits.totalMs - (performance.now() - startedAt));
      if (leftMs <= 0) throw new HttpFailure("not_sent", "timeout");
      const timeoutMs = Math.min(request.timeoutMs ?? limits.callMs, limits.callMs, leftMs);
      return await services.outbound.request({ ...request, timeoutMs });
    },
    now: () => services.clock.now(),
    async openMedia(url, mediaLimits) {
      const { openMedia } = await media.open();
      const limited = { ...mediaLimits, readBy: await readBy(url) };
      const file = await openMedia(services.outbound, url, limited);
      opened.set(file, url);
      return file;
    },
    async fitImage(file, target) {
      const { fitImage } = await media.fit();
      return await fitImage(file, target, await readByOf(file));
    },
    async planImage(file, target) {
      const { planImage } = await media.fit();
      return await planImage(file, target, await readByOf(file));
    },
    fittedUrl: (url, target) => fittedUrl(services, url, target),
    hosts: {
      find: (host) => services.hosts.find(network, host),
      async save(host, data) {
        // It is asked for again where it is needed, and refused there when it is still too large.
        if (isStorable(data)) await services.hosts.save(network, host, data);
      },
      forget: (host) => services.hosts.forget(network, host),
    },
  };
}
