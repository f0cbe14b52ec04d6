import { beforeAll } from "vitest";
import { anApplication } from "../setup/factories.ts";
import type { TestApplication } from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

export const idsOf = (answer: { body: { data: readonly { id: string }[] } }) =>
  answer.body.data.map(({ id }) => id);

/** A relay with one application, for the tests of a file. */
export function useProfiles(
  keep?: (fresh: { readonly relay: Relay; readonly application: TestApplication }) => void,
) {
  const relay = useRelay();
  const application = forFile(() => anApplication(relay));

  const create = (body: unknown, key = application.key) =>
    relay.call("POST", "/v1/profiles", { key, body });
  const read = (id: string, key = application.key) =>
    relay.call("GET", `/v1/profiles/${id}`, { key });
  const patch = (id: string, body: unknown, key = application.key) =>
    relay.call("PATCH", `/v1/profiles/${id}`, { key, body });

  beforeAll(() => keep?.({ relay, application }));
  return { read, patch, create };
}
