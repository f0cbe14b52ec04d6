import { describe, expect, test, vi } from "vitest";
import { aKey, anApplication, dataOf, outcomeOf } from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";
import { forTest } from "../setup/for-file.ts";

const HOUR_MS = 3_600_000;

const { relay, instance } = useTwoProcesses();

const application = forTest(() => anApplication(relay));

const inHours = (hours: number) =>
  new Date(relay.clock.now().getTime() + hours * HOUR_MS).toISOString();

/** A key that another one makes. */
const madeBy = (key: string, body: object = {}) =>
  aKey(relay, { ...application, key }, { ...body });

const create = (key: string, body: object = {}) => relay.call("POST", "/v1/keys", { key, body });

const works = async (key: string, on: Relay = relay) =>
  outcomeOf(await on.call("GET", "/v1/me", { key }));

const session = () => ({
  session: application.platform.session,
  headers: { "x-application-id": application.id },
});

const revoke = (id: string, query = "") =>
  relay.call("POST", `/v1/keys/${id}/revoke${query}`, session());
const remove = (id: string, query = "") =>
  relay.call("DELETE", `/v1/keys/${id}${query}`, session());

const listedIds = async () =>
  dataOf(await relay.call("GET", "/v1/keys?limit=100", session())).map(
    ({ id }: { id: string }) => id,
  );

describe("a key that a key makes", () => {
  test("expires with it when nothing else is said, and says who made it", async () => {
    const expiresAt = inHours(2);
    const maker = await madeBy(application.key, { expiresAt });
    for (const body of [{}, { expiresAt: null }]) {
      const made = dataOf(await create(maker.secret, body));
      expect(made.expiresAt).toBe(expiresAt);
      expect(made.createdBy).toEqual({ kind: "api_key", id: maker.id });
    }
    const earlier = inHours(1);
    expect(dataOf(await create(maker.secret, { expiresAt: earlier })).expiresAt).toBe(earlier);
    expect(dataOf(await create(maker.secret, { expiresAt })).expiresAt).toBe(expiresAt);
  });

  test("a key that a key makes may not outlive its maker, nor may what it makes in turn", async () => {
    const maker = await madeBy(application.key, { expiresAt: inHours(2) });
    const child = await madeBy(maker.secret);
    for (const key of [maker.secret, child.secret]) {
      const { status, body } = await create(key, { expiresAt: inHours(3) });
      expect([status, body.error.code]).toEqual([400, "validation_failed"]);
      expect(body.error.details.issues).toEqual([
        { path: "expiresAt", code: "too_big", message: expect.stringContaining("expires") },
      ]);
    }
    const grandchild = await madeBy(child.secret);
    relay.advance(2 * HOUR_MS);
    for (const { secret } of [maker, child, grandchild])
      expect(await works(secret)).toBe("401 api_key_expired");
  });

  test("descends from at most 500 keys that are still there", async () => {
    const { core } = relay.tables;
    const maker = await madeBy(application.key);
    const rows = await core.list({
      partitionKey: application.platform.id,
      from: "K|",
      before: "K}",
      limit: 10,
    });
    const rowKey = rows.find(({ row }) => row.rowKey.endsWith(maker.id))?.row.rowKey ?? "";
    const descendFrom = (ids: readonly string[]) =>
      core.putProperties(application.platform.id, { rowKey, lineage0: ids.join(" ") });
    await descendFrom(Array.from({ length: 500 }, () => application.keyId));
    expect(outcomeOf(await create(maker.secret))).toBe("409 limit_reached");
    await descendFrom(Array.from({ length: 500 }, (_, index) => `key_${index}`));
    const made = dataOf(await create(maker.secret));
    expect(
      await relay.services.tenants.stores.keys.lineage({
        ...made,
        platformId: application.platform.id,
      }),
    ).toEqual([maker.id]);
  });

  test("a key that a key makes is bound by nothing when its maker is not, and a person's is a person's", async () => {
    expect(dataOf(await create(application.key)).expiresAt).toBeNull();
    const own = dataOf(await relay.call("POST", "/v1/keys", { ...session(), body: {} }));
    expect(own.createdBy).toEqual({ kind: "session", id: application.platform.userId });
  });
});

describe("ending a key", () => {
  /** first → second → third, beside them a sibling. */
  async function aLine() {
    const first = await madeBy(application.key);
    const second = await madeBy(first.secret);
    const third = await madeBy(second.secret, { expiresAt: inHours(1) });
    const sibling = await madeBy(application.key);
    return { first, second, third, sibling };
  }

  test("leaves what it made at work, unless the descendants are asked for", async () => {
    const { first, second, third, sibling } = await aLine();
    expect((await revoke(first.id)).status).toBe(204);
    expect([await works(second.secret), await works(third.secret)]).toEqual(["200", "200"]);
    expect((await revoke(first.id, "?descendants=true")).status).toBe(204);
    for (const { secret } of [second, third])
      expect(await works(secret, instance)).toBe("401 api_key_revoked");
    expect([await works(sibling.secret), await works(application.key)]).toEqual(["200", "200"]);
    const me = dataOf(await relay.call("GET", "/v1/me", { key: application.key }));
    expect(me.counts.activeApiKeys).toBe(2);
  });

  test("finds what it made although a key in between was deleted", async () => {
    const { first, second, third } = await aLine();
    expect((await remove(second.id)).status).toBe(204);
    expect(await works(third.secret)).toBe("200");
    expect((await revoke(first.id, "?descendants=true")).status).toBe(204);
    expect(await works(third.secret)).toBe("401 api_key_revoked");
  });

  test("deleting a key takes its descendants along without a trace", async () => {
    const { first, second, third, sibling } = await aLine();
    await revoke(third.id);
    expect((await remove(first.id, "?descendants=true")).status).toBe(204);
    expect(await listedIds()).toEqual([sibling.id, application.keyId]);
    for (const { id } of [first, second, third])
      expect(await relay.services.tenants.stores.keys.findWithHash(id)).toBeUndefined();
    expect((await remove(first.id, "?descendants=true")).status).toBe(404);
  });

  test("ending a key is recorded for each that it takes along", async () => {
    const { first, second, third } = await aLine();
    await revoke(first.id, "?descendants=true");
    const audit = dataOf(await relay.call("GET", "/v1/audit?limit=100", session()));
    const ended = audit
      .filter(({ action }: { action: string }) => action === "api_key.revoked")
      .map(({ target }: { target: { id: string } }) => target.id);
    expect(ended.toSorted()).toEqual([first.id, second.id, third.id].toSorted());
  });

  test("catches a key that is being made meanwhile", async () => {
    const maker = await madeBy(application.key);
    const { keys } = relay.services.tenants.stores;
    const write = keys.create.bind(keys);
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const spy = vi.spyOn(keys, "create").mockImplementationOnce(async (...made) => {
      reached.resolve();
      await held.promise;
      return await write(...made);
    });
    const making = create(maker.secret);
    await reached.promise;
    expect((await revoke(maker.id, "?descendants=true")).status).toBe(204);
    held.resolve();
    expect(outcomeOf(await making)).toBe("401 api_key_revoked");
    spy.mockRestore();
    expect(await listedIds()).toEqual([maker.id, application.keyId]);
  });

  test("takes two hundred along, in few transactions", { timeout: 180_000 }, async () => {
    const maker = await madeBy(application.key);
    for (let round = 0; round < 10; round += 1)
      await Promise.all(Array.from({ length: 20 }, () => madeBy(maker.secret)));
    expect((await remove(maker.id, "?descendants=true")).status).toBe(204);
    expect(await listedIds()).toEqual([application.keyId]);
    const me = dataOf(await relay.call("GET", "/v1/me", { key: application.key }));
    expect(me.counts.activeApiKeys).toBe(1);
  });

  test.each(["maybe", "1"])("descendants=%s is refused", async (value) => {
    expect((await revoke(application.keyId, `?descendants=${value}`)).status).toBe(400);
  });
});
