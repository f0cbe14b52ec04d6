import { notFound } from "../../runtime/errors.ts";
import { clientMetadata, hasDocuments, publicKeys } from "../../networks/bluesky/client-documents.ts";
import type { NetworkApp } from "../../networks/contract/network.ts";
import type { Services } from "../../services.ts";

/** The client that the network is to know us as. @throws AppError `not_found` where there is none with documents */
function documentedClient({ config }: Services): NetworkApp {
  const app = config.networkApps["bluesky"];
  if (app === undefined || !hasDocuments(app)) throw notFound();
  return app;
}

export function blueskyClientMetadata(services: Services) {
  return clientMetadata(documentedClient(services));
}

export function blueskyClientKeys(services: Services) {
  return publicKeys(documentedClient(services));
}
