import { notFound } from "../../runtime/errors.ts";
import {
  clientMetadata,
  hasDocuments,
  publicKeys,
} from "../../networks/bluesky/client-documents.ts";
import type { NetworkApp } from "../../networks/contract/network.ts";
import type { ConnectionsDeps } from "../deps.ts";

/** The client that the network is to know us as. @throws AppError `not_found` where there is none with documents */
function documentedClient({ config }: ConnectionsDeps): NetworkApp {
  const app = config.networkApps["bluesky"];
  if (app === undefined || !hasDocuments(app)) throw notFound();
  return app;
}

export function blueskyClientMetadata(services: ConnectionsDeps) {
  return clientMetadata(documentedClient(services));
}

export function blueskyClientKeys(services: ConnectionsDeps) {
  return publicKeys(documentedClient(services));
}
