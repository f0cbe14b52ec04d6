import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { AppError } from "../../src/shared/runtime/errors.ts";
import { aKey, anApplication, aProfile, type TestApplication } from "../setup/factories.ts";
import type { TableFault } from "../model/storage-model.ts";
import { faultsAtWrites, startFaultedRelay, type FaultedRelay } from "../setup/faulted-relay.ts";
import type { Relay } from "../setup/relay.ts";
import { countedBy, linkAccount, tallyOf, type Tally } from "./tally.ts";

/** The counted row is among the first of every call here. */
const WRITES_MAX = 4;

let faulted: FaultedRelay;
let calm: Relay;
let relay: Relay;

beforeAll(async () => {
  faulted = await startFaultedRelay();
  ({ calm, relay } = faulted);
});
afterEach(() => faulted.clear());
afterAll(() => faulted.stop());

/** Does it under the fault and, when that ended in doubt, once more when the weather is fine; counts are right at any time. */
async function persistently(
  [fault, nth]: readonly [TableFault, number],
  application: TestApplication,
  act: () => Promise<unknown>,
): Promise<Tally> {
  const expectRight = async () => {
    const read = async () => ({
      counted: await countedBy(calm, application, "application"),
      rows: await tallyOf(calm, application, "application"),
    });
    // One of two writes that were under way at the same time may have failed before the other one landed.
    await expect
      .poll(async () => {
        const { counted, rows } = await read();
        return isDeepStrictEqual(counted, rows) ? "equal" : { counted, rows };
      })
      .toBe("equal");
    return (await read()).counted;
  };
  faulted.next(fault, nth);
  const first = await act().then(
    () => "done",
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );
  faulted.clear();
  expect(["done", "service_unavailable"]).toContain(first);
  await faulted.land();
  await expectRight();
  if (first !== "done") await act();
  return await expectRight();
}

async function call(method: string, path: string, { key }: TestApplication): Promise<void> {
  const { status } = await relay.call(method, path, { key });
  if (status === 503) throw new AppError("service_unavailable", "as the caller was told");
  // Gone already, by the first try.
  expect([200, 204, 404]).toContain(status);
}

describe.each(faultsAtWrites(WRITES_MAX))("with %s at write %i", (...weatherOf) => {
  test("a profile that is created, and removed, is counted as long as it is there", async () => {
    const application = await anApplication(calm);
    const { services } = relay;
    const created = await persistently(weatherOf, application, () => aProfileOf(application));
    expect(created.profiles).toBeGreaterThanOrEqual(1);
    const { id } = await aProfile(calm, application);
    const removed = await persistently(weatherOf, application, () =>
      services.tenants.stores.profiles.delete(application.platform.id, id),
    );
    expect(removed.profiles).toBe(created.profiles);
  });

  test("a key counts from its creation until it is ended", async () => {
    const application = await anApplication(calm);
    const expiresAt = new Date(calm.clock.now().getTime() + 3_600_000).toISOString();
    for (const body of [{}, { expiresAt }]) {
      const { id } = await aKey(calm, application, body);
      const { activeApiKeys: before } = await countedBy(calm, application, "application");
      const ended = await persistently(weatherOf, application, () =>
        call("POST", `/v1/keys/${id}/revoke`, application),
      );
      expect(ended.activeApiKeys).toBe(before - 1);
      const { id: other } = await aKey(calm, application, body);
      const deleted = await persistently(weatherOf, application, () =>
        call("DELETE", `/v1/keys/${other}`, application),
      );
      expect(deleted.activeApiKeys).toBe(before - 1);
      await persistently(weatherOf, application, () => aKeyOf(application, body));
    }
  });

  test("an account is counted as long as it is linked", async () => {
    const application = await anApplication(calm);
    const { id: profileId } = await aProfile(calm, application);
    const { connections } = relay.services.connections.stores;
    const place = { platformId: application.platform.id, profileId, network: "bluesky" } as const;
    const linked = await persistently(weatherOf, application, () =>
      linkAccount(relay, application, place),
    );
    expect(linked.connections).toBe(1);
    const connection = await calm.services.connections.stores.connections.find(place);
    if (connection === undefined) throw new Error("nothing was linked");
    const unlinked = await persistently(weatherOf, application, () =>
      connections.revoke(connection),
    );
    expect(unlinked.connections).toBe(0);
    const gone = await calm.services.connections.stores.connections.find(place);
    if (gone === undefined) throw new Error("a revoked connection has no row");
    const removed = await persistently(weatherOf, application, () => connections.remove(gone));
    expect(removed.connections).toBe(0);
  });
});

async function created(path: string, application: TestApplication, body: object): Promise<void> {
  const { status } = await relay.call("POST", path, { key: application.key, body });
  if (status === 503) throw new AppError("service_unavailable", "as the caller was told");
  expect(status).toBe(201);
}
const aProfileOf = (application: TestApplication) =>
  created("/v1/profiles", application, { title: "t" });
const aKeyOf = (application: TestApplication, body: object) =>
  created("/v1/keys", application, body);
