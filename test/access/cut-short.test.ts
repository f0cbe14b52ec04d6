import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import {
  aKey,
  aLinkedAccount,
  anApplication,
  aProfile,
  dataOf,
  outcomeOf,
  PASSWORD,
} from "../setup/factories.ts";
import { startRelay, type Answer, type CallOptions, type Relay } from "../setup/relay.ts";

/** Access is taken away on the one, whose wallets can't be written for a while; the other has cached what it read. */
let office: Relay;
let branch: Relay;
let isDown = false;

beforeAll(async () => {
  office = await startRelay({
    tableFault: ({ rowKeys, method }) =>
      isDown && rowKeys.includes("W") && method === "POST" ? "lose_request" : "pass",
  });
  branch = await startRelay({ sameDeploymentAs: office });
});
afterAll(async () => {
  await branch.stop();
  await office.stop();
});

interface Customer {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly connectionId: string;
  readonly owner: string;
  readonly keyId: string;
  readonly key: string;
  readonly colleague: { readonly id: string; readonly session: string };
}

let posts = 0;

function publish({ profileId }: Customer, credential: CallOptions): Promise<Answer> {
  posts += 1;
  const headers = { "x-profile-id": profileId, "idempotency-key": `a-post-${posts}` };
  const body = { text: `Text ${posts}`, platforms: ["mastodon"] };
  return branch.call("POST", "/v1/posts", { ...credential, headers, body });
}

const byKey = ({ key }: Customer): CallOptions => ({ key });

async function aCustomer(by: (customer: Customer) => CallOptions): Promise<Customer> {
  const application = await anApplication(office);
  const { id: profileId } = await aProfile(office, application);
  const { id: keyId, secret: key } = await aKey(office, application);
  const owner = application.platform.session;
  const body = { email: `${keyId}@example.com`, password: PASSWORD };
  const { id } = dataOf(await office.call("POST", "/v1/users", { session: owner, body }));
  const { token: session } = dataOf(await office.call("POST", "/v1/auth/login", { body }));
  const connectionId = newId("connection", office.clock.now());
  const [platformId, applicationId] = [application.platform.id, application.id];
  await office.services.connections.saveLinked({
    platformId,
    applicationId,
    profileId,
    id: connectionId,
    network: "mastodon",
    linked: aLinkedAccount(connectionId),
  });
  const ids = { platformId, applicationId, profileId, connectionId, keyId };
  const customer = { ...ids, owner, key, colleague: { id, session } };
  // The second post is accepted on cached rows.
  for (let count = 0; count < 2; count += 1) dataOf(await publish(customer, by(customer)));
  return customer;
}

const byOwner =
  (method: string, path: (customer: Customer) => string, body?: object) => (customer: Customer) =>
    office.call(method, path(customer), { session: customer.owner, ...(body && { body }) });

const revoke = byOwner("POST", ({ keyId }) => `/v1/keys/${keyId}/revoke`);

type Change = (customer: Customer) => Promise<Answer>;

interface Taken {
  readonly what: string;
  readonly change: Change;
  readonly by: (customer: Customer) => CallOptions;
  readonly told: string;
}

const CHANGES: readonly Taken[] = [
  { what: "a key is revoked", change: revoke, by: byKey, told: "401 api_key_revoked" },
  {
    what: "a key is deleted",
    change: byOwner("DELETE", ({ keyId }) => `/v1/keys/${keyId}`),
    by: byKey,
    told: "401 api_key_revoked",
  },
];

interface CutShort {
  readonly what: string;
  readonly told: string;
  /** What the other process answers to a post of the caller. */
  readonly outcome: () => Promise<string>;
}

/** Takes access away while wallets can't be written: the row is written, and the access version is not raised. */
async function cutShort(change: Change, customer: Customer): Promise<void> {
  isDown = true;
  expect(outcomeOf(await change(customer))).toBe("503 service_unavailable");
}

/** The same in every way at the same time: storage is tried for a while before it is given up. */
async function allCutShort(): Promise<readonly CutShort[]> {
  const customers: Customer[] = [];
  for (const { by } of CHANGES) customers.push(await aCustomer(by));
  return await Promise.all(
    CHANGES.map(async ({ what, change, by, told }, index) => {
      const customer = customers[index];
      if (customer === undefined) throw new Error("there is no customer");
      await cutShort(change, customer);
      return { what, told, outcome: async () => outcomeOf(await publish(customer, by(customer))) };
    }),
  );
}

const outcomesOf = async (all: readonly CutShort[]) =>
  Object.fromEntries(
    await Promise.all(all.map(async ({ what, outcome }) => [what, await outcome()] as const)),
  );

const TOLD = Object.fromEntries(CHANGES.map(({ what, told }) => [what, told]));

describe("a change that failed after it had written its row", () => {
  afterEach(() => {
    isDown = false;
  });

  test("is completed by its process, in whichever way it takes access away", async () => {
    const all = await allCutShort();
    isDown = false;
    await vi.waitFor(async () => expect(await outcomesOf(all)).toEqual(TOLD), { timeout: 10_000 });
  });

  test("holds everywhere within half a minute, even if its process can't complete it", async () => {
    const all = await allCutShort();
    branch.advance(31_000);
    expect(await outcomesOf(all)).toEqual(TOLD);
  });

  test("holds everywhere before a list of another process says so", async () => {
    const customer = await aCustomer(byKey);
    await cutShort(revoke, customer);
    const { owner: session, keyId } = customer;
    const keys = dataOf(await branch.call("GET", "/v1/keys", { session }));
    expect(keys.find(({ id }: { id: string }) => id === keyId).status).toBe("revoked");
    expect(outcomeOf(await publish(customer, byKey(customer)))).toBe("401 api_key_revoked");
  });

  test("is not listed by a process that can't complete it", async () => {
    const customer = await aCustomer(byKey);
    await cutShort(revoke, customer);
    const listed = await office.call("GET", "/v1/keys", { session: customer.owner });
    expect(outcomeOf(listed)).toBe("503 service_unavailable");
  });
});
