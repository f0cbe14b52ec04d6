import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { Table } from "../../../src/shared/runtime/storage/table.ts";
import {
  aKey,
  aLinkedAccount,
  anApplication,
  aProfile,
  dataOf,
  outcomeOf,
  PASSWORD,
} from "../../setup/factories.ts";
import type { Answer, Relay } from "../../setup/relay.ts";
import { useTwoProcesses } from "../../setup/use-relay.ts";
import { saveLinked } from "../../setup/stored.ts";

/** Changes are made on the one, and asked of on the other, which has kept everything from before. */
const { relay: office, instance: branch } = useTwoProcesses();

interface Customer {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly connectionId: string;
  readonly session: string;
  readonly keyId: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly postId: string;
}

let posts = 0;

/** A post of a text of its own. */
function publish(relay: Relay, customer: Customer, credential: object, key?: string) {
  posts += 1;
  const headers = { ...customer.headers, "idempotency-key": key ?? `a-key-for-post-${posts}` };
  const body = { text: `The text of post ${key ?? posts}.`, platforms: ["mastodon"] };
  return relay.call("POST", "/v1/posts", { ...credential, headers, body });
}

const readPost = (relay: Relay, { postId, headers }: Customer, credential: object) =>
  relay.call("GET", `/v1/posts/${postId}`, { ...credential, headers });

const byKey = ({ key }: Customer) => ({ key });
const bySession = ({ session }: Customer) => ({ session });

async function link({ platformId, applicationId, profileId }: Customer, relay = office) {
  const owner = { platformId, applicationId, profileId };
  return await saveLinked(
    relay.services,
    owner,
    "mastodon",
    aLinkedAccount(newId("connection", relay.clock.now())),
  );
}

/** With a restricted key, a linked account and a post. The branch has answered requests of the key and of the session. */
async function aCustomer(): Promise<Customer> {
  const application = await anApplication(office);
  const profile = await aProfile(office, application);
  const allowed = { scope: "restricted", allowedProfileIds: [profile.id] };
  const { id: keyId, secret: key } = await aKey(office, application, allowed);
  const owner = {
    platformId: application.platform.id,
    applicationId: application.id,
    profileId: profile.id,
    session: application.platform.session,
    keyId,
    key,
    headers: { "x-profile-id": profile.id },
    connectionId: "",
    postId: "",
  };
  const connectionId = await link(owner);
  const { id: postId } = dataOf(await publish(office, owner, { key }));
  const customer = { ...owner, connectionId, postId };
  for (const credential of [byKey(customer), bySession(customer)])
    for (let count = 0; count < 3; count += 1) {
      dataOf(await publish(branch, customer, credential));
      dataOf(await readPost(branch, customer, credential));
    }
  return customer;
}

/**
 * What a process reads and writes while it answers: the least of some tries, since what goes on beside it, such as rate
 * limits told to other instances, only adds.
 */
async function leastCallsOf(run: () => Promise<unknown>): Promise<string[]> {
  const tries: string[][] = [];
  while (tries.length < 4) tries.push(await callsOf(run));
  return tries.toSorted((left, right) => left.length - right.length)[0] ?? [];
}

async function callsOf(run: () => Promise<unknown>): Promise<string[]> {
  const calls: string[] = [];
  const spies = (["find", "list", "transact"] as const).map((name) => {
    const original = Reflect.get(Table.prototype, name) as (...given: unknown[]) => unknown;
    return vi.spyOn(Table.prototype, name).mockImplementation(function (
      this: Table,
      ...given: unknown[]
    ) {
      calls.push(name);
      return original.apply(this, given) as never;
    });
  });
  try {
    await run();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return calls;
}

describe("rows that a process has cached", () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await aCustomer();
  });

  test.each([
    ["a key", byKey],
    ["a session", bySession],
  ])("cached rows suffice to accept a post of %s: only account rows are read", async (_, by) => {
    let answer: Answer | undefined;
    const calls = await leastCallsOf(async () => {
      answer = await publish(branch, customer, by(customer));
    });
    expect(answer?.status).toBe(202);
    // The account's texts.
    expect(calls).toEqual(["find", "transact"]);
  });

  test("cached rows are enough to return a post: only the post and the version are read", async () => {
    const calls = await leastCallsOf(() => readPost(branch, customer, byKey(customer)));
    expect(calls.toSorted((left, right) => left.localeCompare(right))).toEqual(["find", "list"]);
  });

  test("cached rows are read again after half a minute", async () => {
    branch.advance(31_000);
    const calls = await callsOf(() => readPost(branch, customer, byKey(customer)));
    expect(calls.length).toBeGreaterThan(3);
    expect(await leastCallsOf(() => readPost(branch, customer, byKey(customer)))).toHaveLength(2);
  });
});

type Change = (customer: Customer) => Promise<Answer | string>;

const call =
  (method: string, path: (customer: Customer) => string, options: object = {}): Change =>
  (customer) =>
    office.call(method, path(customer), { session: customer.session, ...options });

const suspend = call("PATCH", ({ platformId }) => `/v1/admin/platforms/${platformId}`, {
  operator: ["Admin"],
  session: undefined,
  body: { status: "suspended" },
});

const CHANGES: readonly (readonly [
  what: string,
  change: Change,
  by: (customer: Customer) => object,
  told: readonly [publishing: string, reading: string],
])[] = [
  [
    "a key was revoked",
    call("POST", ({ keyId }) => `/v1/keys/${keyId}/revoke`),
    byKey,
    ["401 api_key_revoked", "401 api_key_revoked"],
  ],
  [
    "a key was deleted",
    call("DELETE", ({ keyId }) => `/v1/keys/${keyId}`),
    byKey,
    ["401 invalid_credentials", "401 invalid_credentials"],
  ],
  [
    "a platform was suspended",
    suspend,
    byKey,
    ["403 platform_suspended", "403 platform_suspended"],
  ],
  [
    "an application was disabled",
    call("PATCH", ({ applicationId }) => `/v1/applications/${applicationId}`, {
      body: { status: "disabled" },
    }),
    byKey,
    ["403 application_disabled", "403 application_disabled"],
  ],
  [
    "a profile was disabled",
    call("PATCH", ({ profileId }) => `/v1/profiles/${profileId}`, { body: { status: "disabled" } }),
    byKey,
    ["403 profile_disabled", "200"],
  ],
  [
    "a profile is being erased",
    call("DELETE", ({ profileId }) => `/v1/profiles/${profileId}`),
    byKey,
    ["403 profile_disabled", "200"],
  ],
  [
    "an account was unlinked",
    call("DELETE", ({ profileId, connectionId }) => {
      return `/v1/profiles/${profileId}/connections/${connectionId}`;
    }),
    byKey,
    ["422 not_publishable", "200"],
  ],
  [
    "a user logged out",
    call("POST", () => "/v1/auth/logout"),
    bySession,
    ["401 session_expired", "401 session_expired"],
  ],
];

describe("cached rows allow nothing in the next request once it was answered that", () => {
  test.each(CHANGES)(
    "cached rows allow nothing more once it was answered that: %s",
    async (_what, change, by, [refusal, read]) => {
      const customer = await aCustomer();
      const changed = await change(customer);
      expect(typeof changed === "string" || changed.status < 300).toBe(true);
      expect(outcomeOf(await publish(branch, customer, by(customer)))).toBe(refusal);
      const other = await aCustomer();
      await change(other);
      expect(outcomeOf(await readPost(branch, other, by(other)))).toBe(read);
    },
  );

  test("a password was changed: the other sessions are refused", async () => {
    const customer = await aCustomer();
    const { platformId } = customer;
    const [owner] = (await office.services.people.stores.users.list(platformId, undefined, 1))
      .items;
    const login = { email: owner?.email, password: PASSWORD };
    const { token } = dataOf(await office.call("POST", "/v1/auth/login", { body: login }));
    const body = { currentPassword: PASSWORD, newPassword: "another long password" };
    const changed = await office.call("POST", "/v1/auth/password", { session: token, body });
    expect(changed.status).toBeLessThan(300);
    expect(outcomeOf(await publish(branch, customer, bySession(customer)))).toBe(
      "401 session_expired",
    );
  });

  test("another account was linked: the post is the new account's", async () => {
    const customer = await aCustomer();
    const id = await link(customer);
    const { legs } = dataOf(await publish(branch, customer, byKey(customer)));
    expect(legs).toMatchObject([{ connectionId: id }]);
  });

  test("a key was revoked: its repeated Idempotency-Key is refused, too", async () => {
    const customer = await aCustomer();
    const key = `repeated-${customer.postId}`;
    dataOf(await publish(branch, customer, byKey(customer), key));
    const replay = await publish(branch, customer, byKey(customer), key);
    expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    const { session, keyId } = customer;
    await office.call("POST", `/v1/keys/${keyId}/revoke`, { session });
    expect(outcomeOf(await publish(branch, customer, byKey(customer), key))).toBe(
      "401 api_key_revoked",
    );
  });
});

describe("cached rows refuse nothing", () => {
  test("a post is published to an account that another process has just linked", async () => {
    const customer = await aCustomer();
    const { connectionId: id } = customer;
    await office.services.connections.stores.connections.revoke({
      ...customer,
      network: "mastodon",
      id,
    });
    expect(outcomeOf(await publish(branch, customer, byKey(customer)))).toBe("422 not_publishable");
    await link(customer);
    expect(outcomeOf(await publish(branch, customer, byKey(customer)))).toBe("202");
  });

  test("a profile that another process has made is found", async () => {
    const customer = await aCustomer();
    const { session, applicationId } = customer;
    const headers = { "x-application-id": applicationId };
    const body = { title: "Another" };
    const made = dataOf(await office.call("POST", "/v1/profiles", { session, headers, body }));
    const listed = { session, headers: { "x-profile-id": made.id } };
    expect(outcomeOf(await branch.call("GET", "/v1/posts", listed))).toBe("200");
  });
});

test("a change between the reads and the transaction is noticed: the post is decided again", async () => {
  const customer = await aCustomer();
  const { partitions } = branch.services.ledger;
  const original = partitions.commit.bind(partitions);
  const commit = vi.spyOn(partitions, "commit");
  onTestFinished(() => commit.mockRestore());
  commit.mockImplementationOnce(async (platformId, operation) => {
    await office.services.tenants.stores.keys.revoke({ ...customer, id: customer.keyId });
    return await original(platformId, operation);
  });
  expect(outcomeOf(await publish(branch, customer, byKey(customer)))).toBe("401 api_key_revoked");
});

test("rows count as read under the version before them: a change right after the reads is noticed", async () => {
  const customer = await aCustomer();
  const { connectionId: id, platformId } = customer;
  branch.advance(31_000);
  const { partitions } = branch.services.ledger;
  const { connections } = branch.services.connections.stores;
  const original = connections.listOfProfile.bind(connections);
  const list = vi.spyOn(connections, "listOfProfile");
  onTestFinished(() => list.mockRestore());
  list.mockImplementationOnce(async (...given) => {
    const read = await original(...given);
    await office.services.connections.stores.connections.revoke({
      ...customer,
      network: "mastodon",
      id,
    });
    await partitions.readAccessVersion(platformId);
    return read;
  });
  expect(outcomeOf(await publish(branch, customer, byKey(customer)))).toBe("422 not_publishable");
  expect(list.mock.calls.length).toBeGreaterThan(1);
});
