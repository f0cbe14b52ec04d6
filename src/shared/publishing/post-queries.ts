import { openReservations } from "./open-reservations.ts";
import type { PublishingStores } from "./stores.ts";

type Append = PublishingStores["timeline"]["append"];
type ReadQuota = PublishingStores["networkAccounts"]["readQuota"];

/** Makes what modules below ask of posts and of real accounts. */
export const createPostQueries = (stores: PublishingStores) => ({
  openReservations: (platformId: string, max: number) => openReservations(stores, platformId, max),
  appendTimeline: (...given: Parameters<Append>) => stores.timeline.append(...given),
  readQuotaUse: (...given: Parameters<ReadQuota>) => stores.networkAccounts.readQuota(...given),
});
