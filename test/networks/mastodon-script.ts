import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { legsOf } from "./legs.ts";

export const HOST = "m.example";
export const ORIGIN = `https://${HOST}`;
export const LOOK = (id: string) => `GET ${ORIGIN}/api/v1/media/${id}`;

export const FILE = "https://files.example/a.jpg";

export const credentials = {
  origin: ORIGIN,
  accessToken: "token",
  clientId: "client",
  clientSecret: "secret",
  software: "mastodon",
};
export const begun = mastodon.begin({ key: "leg-1" });

export const leg = legsOf({
  account: {
    id: `${HOST}/42`,
    username: `alice@${HOST}`,
    displayName: "Alice",
    avatarUrl: null,
    url: `${ORIGIN}/@alice`,
    kind: "person",
  },
  credentials,
  instanceUrl: ORIGIN,
  remote: begun,
});

export const uploaded = (...ids: readonly string[]): NetworkData => ({
  ...begun,
  media: ids.map((id) => ({ id, kind: "image", isReady: true })),
});
