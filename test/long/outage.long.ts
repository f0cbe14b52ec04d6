import { afterAll, beforeAll, expect, test } from "vitest";
import {
  aCustomer,
  endedPost,
  legOf,
  linkMastodon,
  publish,
  type Customer,
} from "../process/relay/customer.ts";
import { startRelayProcess, type RelayProcess } from "../process/relay/relay-process.ts";
import { startWorld, type World } from "../process/relay/world.ts";

const INSTANCE = "mastodon.sandbox.test";
/** A leg looks for the last time a minute after its latest call. */
const LAST_LOOK_MS = 90_000;

let world: World;
let relay: RelayProcess;
let customer: Customer;

beforeAll(async () => {
  world = await startWorld();
  relay = await startRelayProcess({ settings: world.settings });
  customer = await aCustomer(relay, world);
  await linkMastodon(relay, customer, INSTANCE);
});
afterAll(async () => {
  await Promise.all([relay?.stop(), world?.stop()]);
});

/** With real waits; the contract of the networks shows the same for each of them in a time of its own. */
test(
  "an outage that outlasts every attempt fails the post, unpaid and retryable, and a retry is published",
  { timeout: LAST_LOOK_MS + 40_000 },
  async () => {
    const text = "Closed on Mondays";
    const visible = () => world.sandbox.posts("mastodon").filter((status) => status.text === text);
    world.sandbox.fault("mastodon", "statuses", "fail:network_unavailable", 6);
    const accepted = await publish(relay, customer, { platforms: ["mastodon"], text });
    expect(accepted.status).toBe(202);
    const postId = String(accepted.body.data.id);
    const post = await endedPost(relay, customer, postId, LAST_LOOK_MS);
    expect(post.tokens).toEqual({ reserved: 0, charged: 0, released: 10 });
    // Within half a minute of a call its absence proves nothing: it is looked for once more after that.
    expect(legOf(post, "mastodon")).toMatchObject({
      status: "failed",
      error: { code: "network_unavailable" },
      retryAvailable: true,
    });
    expect(visible()).toEqual([]);
    world.sandbox.clearFaults();
    const retried = await relay.call("POST", `/v1/posts/${postId}/retry`, {
      bearer: customer.key,
      headers: { "x-profile-id": customer.profileId },
      body: {},
    });
    expect(retried.status).toBe(202);
    expect((await endedPost(relay, customer, postId)).status).toBe("succeeded");
    expect(visible()).toHaveLength(1);
  },
);
