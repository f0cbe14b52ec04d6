import { HttpFailure, type NetworkTools } from "../networks/network.ts";
import type { NetworkName } from "../networks/lookup.ts";
import type { Services } from "../services.ts";
import { fittedUrl } from "../media/fitted-url.ts";

/** Loaded when a post's files are first looked at: most requests never need them. */
const media = {
  fetch: () => import("../media/fetch-media.ts"),
  open: () => import("../media/open-media.ts"),
  fit: () => import("../media/fit-image.ts"),
};

export interface ToolLimits {
  /** Longest single call. */
  readonly callMs: number;
  /** No call goes on beyond this time after the tools were made. */
  readonly totalMs: number;
}

/**
 * What a network works with. Without limits every call has the network timeout of the settings; with them a step that
 * somebody waits for ends in time, whatever the server does.
 */
export function createNetworkTools(
  services: Services,
  network: NetworkName,
  limits?: ToolLimits,
): NetworkTools {
  const startedAt = performance.now();
  return {
    app: services.config.networkApps[network],
    async http(request) {
      if (limits === undefined) return await services.outbound.request(request);
      const leftMs = Math.floor(limits.totalMs - (performance.now() - startedAt));
      if (leftMs <= 0) throw new HttpFailure("not_sent", "timeout");
      const timeoutMs = Math.min(request.timeoutMs ?? limits.callMs, limits.callMs, leftMs);
      return await services.outbound.request({ ...request, timeoutMs });
    },
    now: () => services.clock.now(),
    async fetchMedia(url, mediaLimits) {
      const { fetchMedia } = await media.fetch();
      return await fetchMedia(services.outbound, url, mediaLimits);
    },
    async openMedia(url, mediaLimits) {
      const { openMedia } = await media.open();
      return await openMedia(services.outbound, url, mediaLimits);
    },
    async fitImage(file, target) {
      const { fitImage } = await media.fit();
      return await fitImage(file, target);
    },
    async planImage(file, target) {
      const { planImage } = await media.fit();
      return await planImage(file, target);
    },
    fittedUrl: (url, target) => fittedUrl(services, url, target),
    hosts: {
      find: (host) => services.hosts.find(network, host),
      save: (host, data) => services.hosts.save(network, host, data),
      forget: (host) => services.hosts.forget(network, host),
    },
  };
}
