import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  countLive,
  EXPIRING_KEYS_MAX,
  LIVE_KEYS_MAX,
} from "../../src/shared/tenants/keys/live-keys.ts";
import { toChunks } from "../../src/shared/runtime/storage/row.ts";
import {
  aKey,
  anApplication,
  aPlatform,
  aProfile,
  dataOf,
  type TestApplication,
} from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { Random } from "../model/random.ts";
import { countedBy, linkAccount, tallyOf } from "./tally.ts";
import { connectionsOf } from "../setup/stored.ts";

const HOUR = 3_600_000;
const NETWORKS = ["bluesky", "mastodon", "linkedin"] as const;
/** What is sent there meets nobody. */
const settings = {
  OUTBOUND_HOST_MAP: JSON.stringify({ "receiver.example.test": "http://127.0.0.1:1" }),
  OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
};
let instances: readonly [Relay, Relay, Relay];
let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({ settings });
  const more = () => startRelay({ sameDeploymentAs: relay });
  instances = [relay, await more(), await more()];
});
afterAll(() => Promise.all(instances.map((instance) => instance.stop())));

async function expectRight(application: TestApplication): Promise<void> {
  for (const whole of ["application", "platform"] as const)
    expect(await countedBy(relay, application, whole)).toEqual(
      await tallyOf(relay, application, whole),
    );
}

/** What one end customer's systems do, one after the other, while others do the same. */
class Worker {
  readonly #random: Random;
  readonly #application: TestApplication;
  readonly #profiles: string[] = [];
  readonly #keys: string[] = [];
  readonly #endpoints: string[] = [];
  readonly #linked: { readonly profileId: string; readonly id: string }[] = [];

  constructor(seed: number, application: TestApplication) {
    this.#random = new Random(seed);
    this.#application = application;
  }

  async step(): Promise<void> {
    const actions = [
      () => this.#createProfile(),
      () => this.#createProfile(),
      () => this.#removeProfile(),
      () => this.#createKey(),
      () => this.#endKey(),
      () => this.#link(),
      () => this.#link(),
      () => this.#unlink(),
      () => this.#createEndpoint(),
      () => this.#deleteEndpoint(),
    ];
    await this.#random.pick(actions)();
  }

  async #call(method: string, path: string, body?: object) {
    const answer = await this.#random
      .pick(instances)
      .call(method, path, { key: this.#application.key, ...(body === undefined ? {} : { body }) });
    // Two of one external id or too many endpoints are answers like others.
    expect([200, 201, 204, 409]).toContain(answer.status);
    return answer;
  }

  #takeOut<T>(list: T[]): T | undefined {
    return list.splice(this.#random.below(list.length), 1)[0];
  }

  async #createProfile(): Promise<void> {
    const externalId = this.#random.chance(0.3) ? `customer-${this.#random.below(5)}` : null;
    const { status, body } = await this.#call("POST", "/v1/profiles", { title: "t", externalId });
    if (status === 201) this.#profiles.push(body.data.id);
  }

  /** As the last step of an erasure does. */
  async #removeProfile(): Promise<void> {
    const profileId = this.#takeOut(this.#profiles);
    if (profileId === undefined) return;
    await this.#call("PATCH", `/v1/profiles/${profileId}`, { externalId: null });
    const { platform } = this.#application;
    // Two runs of an erasure may come this far at the same time.
    await Promise.all(
      instances.map(({ services }) =>
        services.tenants.stores.profiles.delete(platform.id, profileId),
      ),
    );
  }

  async #createKey(): Promise<void> {
    const soon = relay.clock.now().getTime() + this.#random.between(1_000, 10_000_000);
    const expiresAt = this.#random.chance(0.5) ? new Date(soon).toISOString() : null;
    this.#keys.push(dataOf(await this.#call("POST", "/v1/keys", { expiresAt })).id);
  }

  async #endKey(): Promise<void> {
    const id = this.#takeOut(this.#keys);
    if (id === undefined) return;
    if (this.#random.chance(0.5)) {
      await this.#call("POST", `/v1/keys/${id}/revoke`);
      if (this.#random.chance(0.5)) this.#keys.push(id);
    } else await this.#call("DELETE", `/v1/keys/${id}`);
  }

  async #link(): Promise<void> {
    const [profileId] = this.#profiles;
    if (profileId === undefined) return;
    const place = { profileId, network: this.#random.pick(NETWORKS) };
    const instance = this.#random.pick(instances);
    this.#linked.push({ profileId, id: await linkAccount(instance, this.#application, place) });
  }

  async #unlink(): Promise<void> {
    const linked = this.#takeOut(this.#linked);
    if (linked === undefined) return;
    const { profileId, id } = linked;
    const owner = { platformId: this.#application.platform.id, profileId };
    for (const connection of await connectionsOf(relay.services, owner))
      await this.#random
        .pick(instances)
        .services.connections.stores.connections.revoke({ ...connection, id });
  }

  async #createEndpoint(): Promise<void> {
    const url = "https://receiver.example.test/relay";
    const { status, body } = await this.#call("POST", "/v1/webhooks", { url });
    if (status === 201) this.#endpoints.push(body.data.id);
  }

  async #deleteEndpoint(): Promise<void> {
    const id = this.#takeOut(this.#endpoints);
    if (id !== undefined) await this.#call("DELETE", `/v1/webhooks/${id}`);
  }
}

describe("counts", () => {
  test.each([1, 2, 3])(
    "counts are those of the rows after work on three instances (%i)",
    async (seed) => {
      const platform = await aPlatform(relay, { tokens: 1_000_000 });
      const applications = [
        await anApplication(relay, platform),
        await anApplication(relay, platform),
      ];
      const workers = applications.flatMap((application, at) =>
        [0, 1, 2].map((index) => new Worker(seed * 100 + at * 10 + index, application)),
      );
      const work = async (worker: Worker) => {
        for (let step = 0; step < 25; step += 1) await worker.step();
      };
      await Promise.all(workers.map(work));
      for (const application of applications) await expectRight(application);
      // Some keys have expired by now.
      relay.advance(HOUR);
      for (const application of applications) await expectRight(application);
    },
  );

  test("miss none of a hundred profiles that three instances create at once", async () => {
    const application = await anApplication(relay);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (instances[index % 3] ?? relay).call("POST", "/v1/profiles", {
          key: application.key,
          body: { title: "Imported" },
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect((await countedBy(relay, application, "application")).profiles).toBe(100);
    await expectRight(application);
  });

  test("miss none of forty keys that three instances create and end at once", async () => {
    const application = await anApplication(relay);
    const { key } = application;
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const on = instances[index % 3] ?? relay;
        const { id } = await aKey(on, application);
        if (index % 2 === 0) await on.call("POST", `/v1/keys/${id}/revoke`, { key });
      }),
    );
    expect((await countedBy(relay, application, "application")).activeApiKeys).toBe(21);
    await expectRight(application);
  });

  test("a profile that is refused for its external id is not counted", async () => {
    const application = await anApplication(relay);
    await aProfile(relay, application, { externalId: "one" });
    const again = await relay.call("POST", "/v1/profiles", {
      key: application.key,
      body: { title: "t", externalId: "one" },
    });
    expect(again.status).toBe(409);
    expect((await countedBy(relay, application, "application")).profiles).toBe(1);
  });

  test("a disabled profile is still counted", async () => {
    const application = await anApplication(relay);
    const { id } = await aProfile(relay, application);
    await relay.call("DELETE", `/v1/profiles/${id}`, { key: application.key });
    expect((await countedBy(relay, application, "application")).profiles).toBe(1);
  });
});

async function countedAt(platformId: string, applicationId: string, at: Date): Promise<number> {
  const counts = (await relay.services.tenants.stores.platforms.counts(platformId)).get(
    applicationId,
  );
  return counts === undefined ? 0 : countLive(counts, at);
}

describe("keys that expire", () => {
  const ROSTER = "N|";

  async function fill(application: TestApplication, times: readonly number[]): Promise<void> {
    const rowKey = ROSTER + application.id;
    await relay.tables.core.putProperties(application.platform.id, {
      rowKey,
      lastingKeys: 1,
      ...toChunks("expiringKeys", JSON.stringify(times)),
    });
  }

  test("keys that expire are counted until the very moment, each of several with the same end", async () => {
    const application = await anApplication(relay);
    const { id, platform } = application;
    const end = relay.clock.now().getTime() + HOUR;
    const expiresAt = new Date(end).toISOString();
    const keys = [await aKey(relay, application, { expiresAt })];
    keys.push(await aKey(relay, application, { expiresAt }));
    const countAt = (time: number) => countedAt(platform.id, id, new Date(time));
    expect([await countAt(end - 1), await countAt(end)]).toEqual([3, 1]);
    await relay.call("DELETE", `/v1/keys/${keys[0]?.id}`, { key: application.key });
    expect([await countAt(end - 1), await countAt(end)]).toEqual([2, 1]);
  });

  test("keys that expire are refused like lasting ones when as many are in use as may be, until one is revoked", async () => {
    const application = await anApplication(relay);
    const { key } = application;
    const end = relay.clock.now().getTime() + HOUR;
    const expiresAt = new Date(end).toISOString();
    const { id } = await aKey(relay, application, { expiresAt });
    await fill(
      application,
      Array.from({ length: LIVE_KEYS_MAX - 1 }, () => end),
    );
    const create = (body: object) => relay.call("POST", "/v1/keys", { key, body });
    for (const body of [{ expiresAt }, {}]) {
      const refused = await create(body);
      expect([refused.status, refused.body.error.code]).toEqual([409, "limit_reached"]);
    }
    expect(dataOf(await relay.call("GET", "/v1/keys", { key }))).toHaveLength(2);
    await relay.call("POST", `/v1/keys/${id}/revoke`, { key });
    const both = await Promise.all([create({}), create({ expiresAt })]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect((await countedBy(relay, application, "application")).activeApiKeys).toBe(LIVE_KEYS_MAX);
  });

  test("beyond what may be in use, of an earlier version, work on and count, and nothing is added", async () => {
    const application = await anApplication(relay);
    const { key } = application;
    const end = relay.clock.now().getTime() + HOUR;
    await fill(
      application,
      Array.from({ length: 5_000 }, () => end),
    );
    expect((await countedBy(relay, application, "application")).activeApiKeys).toBe(5_001);
    expect((await relay.call("POST", "/v1/keys", { key, body: {} })).status).toBe(409);
    relay.advance(HOUR);
    expect((await relay.call("POST", "/v1/keys", { key, body: {} })).status).toBe(201);
    expect((await countedBy(relay, application, "application")).activeApiKeys).toBe(2);
  });

  test("keys that expire are refused when more expired within the hour than are remembered", async () => {
    const application = await anApplication(relay);
    const { key } = application;
    const now = relay.clock.now().getTime();
    await fill(
      application,
      Array.from({ length: EXPIRING_KEYS_MAX }, () => now - 1_000),
    );
    const body = { expiresAt: new Date(now + HOUR).toISOString() };
    expect((await relay.call("POST", "/v1/keys", { key, body })).status).toBe(409);
    expect((await relay.call("POST", "/v1/keys", { key, body: {} })).status).toBe(201);
  });

  test("take no room once they have expired", async () => {
    const application = await anApplication(relay);
    const now = relay.clock.now().getTime();
    await fill(
      application,
      Array.from({ length: EXPIRING_KEYS_MAX }, () => now - 2 * HOUR),
    );
    await aKey(relay, application, { expiresAt: new Date(now + HOUR).toISOString() });
    const { core } = relay.tables;
    const stored = await core.find(application.platform.id, ROSTER + application.id);
    expect(stored?.row).toMatchObject({ expiringKeys0: JSON.stringify([now + HOUR]) });
    expect((await countedBy(relay, application, "application")).activeApiKeys).toBe(2);
  });
});
