import { expect, test } from "vitest";
import { legKey } from "../../src/shared/publishing/post-store.ts";
import { DamagedRow } from "../../src/shared/runtime/storage/damaged-row.ts";
import { aKey, dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { reconcileWallets } from "../setup/walks.ts";
import { connectionsOf } from "../setup/stored.ts";

const { relay } = useSandboxedRelay();

const core = () => relay.tables.core;
const submit = (publisher: Publisher) =>
  publisher.submit({ text: unique("Damaged"), platforms: ["mastodon"] });

/** Puts text where the row has a number. */
const damage = ({ owner }: Publisher, rowKey: string, column: string) =>
  core().putProperties(owner.platformId, { rowKey, [column]: "12" });

test("a damaged wallet stops its own platform, is never written over and does not end the hourly check", async () => {
  const [broken, sound] = [await aPublisher(relay), await aPublisher(relay)];
  await damage(broken, "W", "balance");
  const before = await core().find(broken.owner.platformId, "W");
  expect((await submit(broken)).status).toBe(500);
  expect((await relay.call("GET", "/v1/billing/balance", { key: broken.key })).status).toBe(500);
  expect(await core().find(broken.owner.platformId, "W")).toEqual(before);

  expect((await submit(sound)).status).toBe(202);
  expect(await sound.balance()).toBeDefined();
  await reconcileWallets(relay.services);
  const lines = relay.logLines.filter((line) => line.includes("wallet does not reconcile"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(broken.owner.platformId);
});

test("access can be taken away although the wallet is damaged, and nothing else of it is changed", async () => {
  const publisher = await aPublisher(relay);
  const { key, profileId, application, owner } = publisher;
  const { session } = application.platform;
  const other = await aKey(relay, application);
  const [connection] = await connectionsOf(relay.services, owner);
  await damage(publisher, "W", "balance");
  const wallet = async () => (await core().find(owner.platformId, "W"))?.row;
  const before = await wallet();
  const post = (path: string, options: object) => relay.call("POST", path, { ...options });
  expect((await post(`/v1/keys/${other.id}/revoke`, { session })).status).toBe(204);
  expect((await relay.call("GET", "/v1/keys", { key: other.secret })).status).toBe(401);
  const path = `/v1/profiles/${profileId}/connections/${connection?.id}`;
  expect((await relay.call("DELETE", path, { key })).status).toBe(200);
  await relay.services.tenants.stores.platforms.setStatus(
    owner.platformId,
    "suspended",
    "2026-03-04T10:00:00Z",
  );
  expect((await relay.call("GET", "/v1/keys", { key })).status).toBe(403);
  const after = await wallet();
  expect(after).toEqual({ ...before, accessVersion: after?.["accessVersion"] });
  expect(after?.["accessVersion"]).not.toBe(before?.["accessVersion"]);
});

test("a post with a damaged leg can't be read, lists leave it out, and an erasure does not pass over it", async () => {
  const publisher = await aPublisher(relay);
  const [first, second, third] = [
    dataOf(await submit(publisher)),
    dataOf(await submit(publisher)),
    dataOf(await submit(publisher)),
  ];
  const ref = { profileId: second.profileId, postId: second.id };
  await damage(publisher, legKey(ref, "mastodon"), "tokensCharged");
  const read = (id: string) => publisher.call("GET", `/v1/posts/${id}`);
  expect((await read(second.id)).status).toBe(500);
  expect((await read(third.id)).status).toBe(200);
  const { platformId } = publisher.owner;
  const scope = { platformId, profileId: second.profileId };
  const whole = { after: undefined, limit: 10, missesNone: true } as const;
  await expect(
    relay.services.publishing.stores.posts.listOfProfile(scope, whole, () => true),
  ).rejects.toThrow(DamagedRow);
  const listed = await publisher.call("GET", "/v1/posts");
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([third.id, first.id]);
});
