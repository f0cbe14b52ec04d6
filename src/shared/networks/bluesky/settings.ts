import { es256PrivateKey, setting } from "../../runtime/setting.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import type { FromSettings, NetworkSettings } from "../contract/settings.ts";

type ClientKey = ShapeOf<typeof es256PrivateKey>;

const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/])/;

/**
 * Reads this service's OAuth client. This network has no registration: a client is identified by the address of its
 * documents and proves itself with a key. On a developer's machine it needs neither. Elsewhere there is no client
 * without them.
 */
function read(values: Readonly<Record<string, unknown>>): FromSettings {
  const id = values["PUBLIC_BASE_URL"];
  // Safe: the table below has parsed it.
  const key = values["BLUESKY_OAUTH_KEY"] as ClientKey | undefined;
  if (typeof id !== "string") return {};
  if (LOOPBACK.test(id)) return { app: { id, secret: "", version: "" } };
  if (key === undefined || !id.startsWith("https:")) return {};
  return { app: { id, secret: JSON.stringify(key), version: "" } };
}

export const blueskySettings: NetworkSettings = {
  table: {
    BLUESKY_OAUTH_KEY: setting(
      es256PrivateKey,
      null,
      "Private ES256 key as a JWK with a `kid`, by which Bluesky's OAuth identifies this service. Without it, accounts can be linked only with an app password. A `PUBLIC_BASE_URL` on localhost needs none.",
    ),
  },
  read,
};
