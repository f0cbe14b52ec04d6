import { isStorable } from "../networks/contract/bounded.ts";
import type { NetworkTools } from "../networks/contract/tools.ts";
import { MediaFailure } from "../networks/contract/media.ts";
import { type NetworkName, networkOf } from "../networks/networks.ts";
import type { Config } from "../config/config.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { fittedUrl } from "../media/fitted-url.ts";
import { OWN_HOSTS } from "../runtime/http-call.ts";
import { limitCalls, type CallLimits } from "../runtime/limited-calls.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import { notFound } from "../runtime/errors.ts";
import type { NetworkDocument } from "../networks/contract/network.ts";

/** Loaded when a post's files are first read, because most requests don't need them. */
const media = {
  reader: () => import("../media/media-reader.ts"),
  open: () => import("../media/open-media.ts"),
  fit: () => import("../media/fit-image.ts"),
};

/**
 * Time limit of a leg's calls and of reading its files. With the writes that follow, this is well within
 * `functionTimeout` of host.json, at which the host ends the process and everything that runs in it.
 */
export const BACKGROUND_LIMITS: CallLimits = { totalMs: 240_000 };

const late = () => {
  throw new MediaFailure("media_unreachable", "reading it took too long");
};

/** What calling networks needs of the process. */
export type ToolsDeps = Pick<ConnectionsDeps, "config" | "clock" | "outbound" | "names" | "stores">;

/**
 * Creates the tools that a network works with. From now on, `limits` hold for its calls and for all reading of files.
 * Their `owner` is the platform, or the group of callers, that chose the servers.
 */
export function createNetworkTools(
  services: ToolsDeps,
  network: NetworkName,
  limits: CallLimits = BACKGROUND_LIMITS,
): NetworkTools {
  const calls = limitCalls(services, limits);
  const { request } = networkOf(network).hasOwnHosts
    ? limitCalls(services, { ...limits, owner: OWN_HOSTS })
    : calls;
  const readBy = async () => ({
    reader: (await media.reader()).mediaReader,
    owner: limits.owner ?? "",
  });
  const inTime = <Result>(work: Promise<Result>) => withTimeLimit(calls.leftMs(), work, late);
  return {
    app: services.config.networkApps[network],
    service: services.config.service,
    http: request,
    now: () => services.clock.now(),
    dnsTexts: (name) => services.names.texts(name, limits.owner ?? ""),
    async openMedia(url, mediaLimits) {
      const { openMedia } = await media.open();
      const { leftMs } = calls;
      return await openMedia(calls, url, { ...mediaLimits, readBy: await readBy(), leftMs });
    },
    async fitImage(file, target) {
      const { fitImage } = await media.fit();
      return await inTime(fitImage(file, target, await readBy()));
    },
    async readPage(page) {
      const { reader, owner } = await readBy();
      return await inTime(reader.page(owner, page));
    },
    addressOf: (url) => Promise.resolve(url),
    fittedUrl: (image) => fittedUrl(services, { ...image, owner: limits.owner ?? "" }),
    hosts: {
      find: (host) => services.stores.hosts.find(network, host),
      async save(host, data) {
        // Larger data are requested again where they are needed, and refused there if they are still too large.
        if (isStorable(data)) await services.stores.hosts.save(network, host, data);
      },
    },
  };
}

/**
 * Returns a document that a network requires this service to publish.
 * @throws AppError `not_found` when the service has no app at the network, or one without documents
 */
export function publishedDocument(
  config: Config,
  network: NetworkName,
  { make }: Pick<NetworkDocument, "make">,
): Readonly<Record<string, unknown>> {
  const app = config.networkApps[network];
  const made = app && make(app, config.service);
  if (made === undefined) throw notFound();
  return made;
}
