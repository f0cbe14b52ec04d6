import { checkReadiness } from "../../../src/shared/http/check-readiness.ts";
import { readConfig } from "../../../src/shared/config/config.ts";
import { newErasure } from "../../../src/shared/erasure/erasure-stages.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { buildServices } from "../../../src/shared/compose.ts";

/**
 * The product's storage as a deployment has it: settings from the environment, a write and a read of each kind. Single
 * rows alone: Azurite answers transactions with 500 where the account is named by the host.
 */
const services = buildServices(readConfig());
const now = services.clock.now();
const [platformId, profileId] = [newId("platform", now), newId("profile", now)];
const applicationId = newId("application", now);
const requestedBy = { kind: "session", id: newId("user", now) } as const;

await services.erasure.erasures.open(
  newErasure({ id: profileId, platformId, applicationId, requestedBy }, now),
);
const postId = newId("post", now);
await services.publishing.stores.publishQueue.hint({
  kind: "legs",
  platformId,
  profileId,
  postId,
  networks: ["bluesky"],
});
const { checks } = await checkReadiness(services);
const read = (await services.erasure.erasures.find(profileId)) !== undefined;
process.stdout.write(JSON.stringify({ read, checks }));
