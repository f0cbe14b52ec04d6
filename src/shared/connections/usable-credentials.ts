import type { NetworkData, Rejected, TryLater } from "../networks/contract/network.ts";
import type { Connection } from "./connection.ts";

interface UsableCredentials {
  readonly kind: "usable";
  readonly credentials: NetworkData;
  /** As it is now; its generation is that of the credentials. */
  readonly connection: Connection;
}
export type FreshCredentials = UsableCredentials | TryLater | Rejected;
