import { notFound } from "../../runtime/errors.ts";
import type { NetworkDocument } from "../../networks/contract/network.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import type { ConnectionsDeps } from "../deps.ts";

/**
 * Returns a document that a network requires this service to publish.
 * @throws AppError `not_found` where the service has no registration with the network, or one without documents
 */
export function publishedDocument(
  { config }: ConnectionsDeps,
  network: NetworkName,
  { make }: Pick<NetworkDocument, "make">,
): Readonly<Record<string, unknown>> {
  const app = config.networkApps[network];
  const made = app && make(app, config.service);
  if (made === undefined) throw notFound();
  return made;
}
