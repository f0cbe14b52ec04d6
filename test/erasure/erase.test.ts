import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { aKey, aProfile, dataOf } from "../setup/factories.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import {
  aMarkedProfile,
  erase,
  runOnce,
  startEndCustomers,
  untilGone,
  worldSettings,
  type EndCustomers,
  type MarkedProfile,
} from "./world.ts";
import { reconcileWallets } from "../setup/walks.ts";
import { connectionsOf } from "../setup/stored.ts";

const OPERATOR = {
  requestId: "",
  ip: "",
  caller: { kind: "operator", subject: "test", roles: ["Admin"] },
} as const;

let sandbox: Sandbox;
let receiver: EndCustomers;
let relay: Relay;

beforeAll(async () => {
  sandbox = await startSandbox();
  receiver = await startEndCustomers();
  const settings = worldSettings(sandbox, receiver);
  relay = await startRelay({ settings });
});
afterAll(async () => {
  await relay.stop();
  await receiver.stop();
  await sandbox.stop();
});

/** Tables in which a row tells of the profile, by its words or by its id. */
async function traces({ mark, profileId }: MarkedProfile) {
  const rows = await storedRows(relay);
  const of = (found: typeof rows) => [...new Set(found.map(({ table }) => table))].toSorted();
  return {
    words: of(rows.filter(({ text }) => text.includes(mark))),
    ids: rows.filter(({ text }) => text.includes(profileId)),
    tables: of(rows.filter(({ text }) => text.includes(profileId))),
  };
}

describe("a profile that is erased", () => {
  test("leaves nothing behind in any table but its id in the ledger", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    const before = await traces(profile);
    expect(before.words).toEqual(["core", "deliveries", "events"]);
    expect(before.tables).toEqual(expect.arrayContaining(["accounts", "authorizations"]));
    const account = dataOf(
      await relay.call("GET", `/v1/profiles/${profile.profileId}/connections`, {
        key: profile.key,
      }),
    );
    expect(account).toHaveLength(2);

    expect((await erase(relay, profile)).status).toBe(202);
    const minutes = await untilGone(relay, profile);

    const after = await traces(profile);
    expect(after.words).toEqual([]);
    expect(after.tables).toEqual(["core"]);
    for (const { rowKey } of after.ids) expect(rowKey).toMatch(/^(L|O)\|/);
    const timelines = (await storedRows(relay)).filter(({ table }) => table === "timeline");
    const postIds = [profile.publishedId, profile.scheduledId];
    expect(timelines.filter(({ partitionKey }) => postIds.includes(partitionKey))).toEqual([]);
    expect(minutes).toBeLessThan(60);
  });

  test("takes its words out of its own row at once, and frees its external id", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    const { body } = await erase(relay, profile);
    expect(body.data).toMatchObject({
      id: profile.profileId,
      title: "Erased",
      externalId: null,
      metadata: {},
      status: "erasing",
    });
    const again = { title: "Bakery", externalId: profile.mark };
    const created = await relay.call("POST", "/v1/profiles", { key: profile.key, body: again });
    expect(created.status).toBe(201);
  });

  test("a profile that is erased has its authorizations ended at the networks and its secrets purged by the first run", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    await erase(relay, profile);
    await runOnce(relay);
    for (const network of ["bluesky", "mastodon"] as const) {
      const opened = await relay.services.connections.stores.connections.open({
        ...profile.owner,
        network,
      });
      expect(opened).toMatchObject({ connection: { status: "revoked" }, credentials: undefined });
    }
  });

  test("a profile that is erased can't be brought back, published for, linked or retried", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    const { key, headers, profileId } = profile;
    await erase(relay, profile);
    const patch = { key, body: { status: "active" } };
    const path = `/v1/profiles/${profileId}`;
    const answers = [
      await relay.call("PATCH", path, patch),
      await relay.call("DELETE", path, { key }),
      await profile.submit({ text: unique("No"), platforms: ["bluesky"] }),
      await relay.call("POST", `${path}/connect/sessions`, { key, body: {} }),
      await relay.call("POST", `/v1/posts/${profile.publishedId}/retry`, { key, headers }),
    ];
    expect(answers.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual([
      "409 invalid_state",
      "409 invalid_state",
      "403 profile_disabled",
      "403 profile_disabled",
      "403 profile_disabled",
    ]);
  });

  test("pays for nothing that was not published, and the wallet still reconciles", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    const waiting = { text: unique(`Under way ${profile.mark}`), platforms: ["bluesky"] };
    await profile.accept(waiting);
    const before = await profile.balance();
    expect(before.tokenReserved).toBe(10);
    await erase(relay, profile);
    await runOnce(relay);
    await untilGone(relay, profile);
    const after = await profile.balance();
    expect(after).toMatchObject({ tokenBalance: before.tokenBalance, tokenReserved: 0 });
    const lines = relay.logLines.length;
    await reconcileWallets(relay.services);
    const said = relay.logLines.slice(lines).filter((line) => line.includes("does not reconcile"));
    expect(said).toEqual([]);
    expect((await traces(profile)).words).toEqual([]);
  });

  test("a profile that is erased is erased once, however often it is asked for", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    expect((await erase(relay, profile)).status).toBe(202);
    expect((await erase(relay, profile)).status).toBe(202);
    await untilGone(relay, profile);
    expect((await erase(relay, profile)).status).toBe(404);
    const told = relay.services.audit
      .listAll(OPERATOR, { limit: 100 })
      .items.filter((event) => event.target?.id === profile.profileId)
      .filter(({ action }) => action === "profile.erased");
    expect(told).toMatchObject([
      {
        actor: { kind: "system", id: "erase-profiles" },
        platformId: profile.owner.platformId,
        applicationId: profile.owner.applicationId,
      },
    ]);
  });

  test("takes nothing of its neighbor along", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    const neighbor = await aProfile(relay, profile.application, { title: "Butcher" });
    const other = await aPublisher(relay, ["bluesky"], profile.application.platform);
    const kept = await other.accept({ text: unique("Kept"), platforms: ["bluesky"] });
    await erase(relay, profile);
    await untilGone(relay, profile);
    const { key } = profile;
    const read = await relay.call("GET", `/v1/profiles/${neighbor.id}`, { key });
    expect(read.body.data).toMatchObject({ title: "Butcher", status: "active" });
    const post = await other.call("GET", `/v1/posts/${kept.id}`);
    expect(post.body.data).toMatchObject({ status: "succeeded" });
    const linked = await connectionsOf(relay.services, other.owner);
    expect(linked).toMatchObject([{ network: "bluesky", status: "active" }]);
  });

  test("a restricted key asks in vain for the erasure of a profile", async () => {
    const profile = await aMarkedProfile(relay, receiver);
    const scope = { scope: "restricted", allowedProfileIds: [profile.profileId] };
    const { secret } = await aKey(relay, profile.application, scope);
    const answer = await erase(relay, { key: secret, profileId: profile.profileId });
    expect([answer.status, answer.body.error.code]).toEqual([403, "app_admin_required"]);
  });
});
