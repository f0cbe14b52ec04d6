import { expect, test } from "vitest";
import { useMailedRelay } from "../setup/use-relay.ts";
import { purgeExpired } from "../setup/walks.ts";
import { logIn, signUpAs, unverified, verified } from "./people.ts";

const DAY = 24 * 60 * 60_000;
const mailed = useMailedRelay();

const platformIds = async () =>
  (await mailed.relay.services.tenants.stores.platforms.listIds(undefined, 1_000)).items.map(
    ({ id }) => id,
  );

test("a sign-up that is not verified within 30 days leaves nothing, and others stay", async () => {
  const { relay } = mailed;
  const stranger = await unverified(mailed);
  const owner = await verified(mailed);
  relay.advance(25 * DAY);
  const late = await unverified(mailed);
  await purgeExpired(relay.services);
  expect(await platformIds()).toContain(stranger.platformId);

  relay.advance(6 * DAY);
  await purgeExpired(relay.services);
  const left = await platformIds();
  expect(left).not.toContain(stranger.platformId);
  expect(left).toEqual(expect.arrayContaining([owner.platformId, late.platformId]));
  const rows = await relay.tables.core.list({ partitionKey: stranger.platformId, limit: 100 });
  expect(rows.map(({ row }) => row.rowKey).filter((key) => !["W", "H"].includes(key))).toEqual([]);
  expect((await logIn(relay, owner.email)).status).toBe(200);
  expect((await logIn(relay, late.email)).status).toBe(200);
  expect((await logIn(relay, stranger.email)).status).toBe(401);
  expect((await signUpAs(relay, stranger.email)).status).toBe(201);
});

test("a user who was not verified stays in a platform that holds something else", async () => {
  const { relay } = mailed;
  const person = await unverified(mailed);
  const credit = { platformId: person.platformId, tokens: 10 };
  const call = { operator: ["Admin"], body: credit };
  expect((await relay.call("POST", "/v1/billing/admin/credit", call)).status).toBe(201);
  relay.advance(100 * DAY);
  await purgeExpired(relay.services);
  expect((await logIn(relay, person.email)).status).toBe(200);
});
