import { boundedLinked } from "../../setup/bounded.ts";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AccountCheckStore } from "../../../src/shared/connections/account-check-store.ts";
import { ConnectSessionStore } from "../../../src/shared/connections/connect-session-store.ts";
import { ConnectionStore } from "../../../src/shared/connections/connection-store.ts";
import { serviceUnavailable } from "../../../src/shared/runtime/errors.ts";
import { ApplicationStore } from "../../../src/shared/tenants/applications/application-store.ts";
import { InvitationStore } from "../../../src/shared/people/invitations/invitation-store.ts";
import { KeyStore } from "../../../src/shared/tenants/keys/key-store.ts";
import { ClosingStore } from "../../../src/shared/tenants/platforms/closing-store.ts";
import { PlatformStore } from "../../../src/shared/tenants/platforms/platform-store.ts";
import { ProfileStore } from "../../../src/shared/tenants/profiles/profile-store.ts";
import { UserStore } from "../../../src/shared/people/staff/user-store.ts";
import { LedgerStore } from "../../../src/shared/ledger/ledger-store.ts";
import { HEAD_KEY, Partitions } from "../../../src/shared/partition/partition.ts";
import { FileStore } from "../../../src/shared/files/file-store.ts";
import { EventStore } from "../../../src/shared/events/events.ts";
import { MailStore } from "../../../src/shared/mail/mail-store.ts";
import { NoticeStore } from "../../../src/shared/mail/notice-store.ts";
import { IdempotencyStore } from "../../../src/shared/publishing/idempotency-store.ts";
import { PostIndexStore } from "../../../src/shared/publishing/post-index-store.ts";
import { PostStore } from "../../../src/shared/publishing/post-store.ts";
import { EndpointStore } from "../../../src/shared/webhooks/endpoints/endpoint-store.ts";
import { aKey, aLinkedAccount, anApplication, aProfile } from "../../setup/factories.ts";
import { startRelay } from "../../setup/relay.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { forFile } from "../../setup/for-file.ts";

/** What a method does to the rows that say who may ask and what may be published. */
type Declared = "reads" | "raises" | { readonly raisesNot: string };

const NEW = { raisesNot: "it adds a row, and no process keeps the absence of one" };
const BACKGROUND = {
  raisesNot: "nobody waits for what is found in the background; cached rows end",
};

/** Every method of every store that is handed the tables of those rows. A new one has to be declared. */
const DECLARED = new Map<{ readonly name: string; readonly prototype: object }, object>([
  [
    KeyStore,
    {
      bindingOf: "reads",
      findWithHash: "reads",
      find: "reads",
      create: NEW,
      rename: { raisesNot: "a name allows nothing" },
      revoke: "raises",
      revokeAll: "raises",
      lineage: "reads",
      descendants: "reads",
      replaceHashIfUnchanged: { raisesNot: "it is a hash of the same secret" },
      purge: "raises",
      purgeAll: "raises",
      removeStray: { raisesNot: "it removes what leads to no key" },
      list: { raisesNot: "it removes entries of the index, whose keys are gone" },
      noteUse: { raisesNot: "when a key was used allows nothing" },
    },
  ],
  [
    ClosingStore,
    {
      close: "raises",
      announce: { raisesNot: "mails allow nothing" },
      beginErasing: "raises",
      unlist: { raisesNot: "it is the list of all platforms, and not the platform" },
      unlistIfAbsent: { raisesNot: "there is no platform" },
      removeRows: { raisesNot: "nobody gets in any more" },
    },
  ],
  [
    PlatformStore,
    {
      find: "reads",
      findAccess: "reads",
      counts: "reads",
      createWithOwner: NEW,
      setStatus: "raises",
      list: "reads",
      listIds: "reads",
      ping: "reads",
    },
  ],
  [
    ApplicationStore,
    {
      find: "reads",
      create: NEW,
      rename: { raisesNot: "a name allows nothing" },
      setStatus: "raises",
      listAll: "reads",
      listIds: "reads",
      list: "reads",
    },
  ],
  [
    ProfileStore,
    {
      find: "reads",
      findByExternalId: "reads",
      listNames: "reads",
      create: NEW,
      update: "raises",
      delete: { raisesNot: "it is erasing, which has raised the version" },
      list: "reads",
      listOf: "reads",
    },
  ],
  [
    UserStore,
    {
      find: "reads",
      isStored: "reads",
      list: "reads",
      create: NEW,
      update: "raises",
      deleteUnlessLast: "raises",
      deleteOrSuspend: "raises",
      change: "raises",
      removeUnverified: "raises",
    },
  ],
  [
    InvitationStore,
    {
      find: "reads",
      findLatest: "reads",
      list: "reads",
      issue: { raisesNot: "an invitation allows nothing until it is accepted" },
      accept: NEW,
      withdraw: { raisesNot: "nothing is answered from a cached invitation" },
      removeEndedBefore: { raisesNot: "it removes what has ended" },
    },
  ],
  [
    ConnectionStore,
    {
      listOfProfile: "reads",
      listIndexed: "reads",
      find: "reads",
      open: "reads",
      openCredentials: "reads",
      isLinked: "reads",
      saveLinked: "raises",
      revoke: "raises",
      remove: { raisesNot: "it is revoked, which has raised the version" },
      mark: "raises",
      recordUse: { raisesNot: "when an account was used allows nothing" },
      readLease: "reads",
      writeLease: { raisesNot: "a lease is about the credentials, which nobody keeps" },
      saveRefreshed: { raisesNot: "they are credentials of the same account, which nobody keeps" },
    },
  ],
  [
    AccountCheckStore,
    {
      listRefs: "reads",
      recordChecked: BACKGROUND,
      saveLimits: BACKGROUND,
      recordWarned: BACKGROUND,
      reseal: { raisesNot: "they are the same credentials under another key" },
    },
  ],
] satisfies [object, Readonly<Record<string, Declared>>][]);

/** Stores with rows in the same tables, none of which say who may publish what. */
const OTHERS: readonly { readonly name: string }[] = [
  ConnectSessionStore,
  EndpointStore,
  EventStore,
  FileStore,
  IdempotencyStore,
  LedgerStore,
  MailStore,
  NoticeStore,
  PostIndexStore,
  PostStore,
  Partitions,
];

const methodsOf = ({ prototype }: { readonly prototype: object }) =>
  Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");

describe("what changes who may ask or what may be published is declared", () => {
  test.each([...DECLARED].map(([store, methods]) => [store.name, store, methods] as const))(
    "%s: every method raises the access version, or says why not",
    (_name, store, methods) => {
      expect(methodsOf(store).sort()).toEqual(Object.keys(methods).sort());
    },
  );

  test("no other store is handed the tables", async () => {
    const composing = ["src/shared/compose.ts", ...globSync("src/shared/*/stores.ts")];
    const composed = await Promise.all(composing.map((path) => readFile(path, "utf8")));
    const handed = composed
      .join("")
      .matchAll(/new (\w+)\(\s*(?:\{\s*table: )?(?:tables\.)?(?:keys|core|parts)\b/g);
    const names = new Set([...handed].map(([, name]) => name));
    const known = [...DECLARED.keys(), ...OTHERS].map(({ name }) => name);
    expect(names).toEqual(new Set(known));
  });
});

const relay = forFile(() => startRelay());
const application = forFile(() => anApplication(relay));

const versionNow = () =>
  relay.services.access.partitions.readAccessVersion(application.platform.id);

/** A change that has to raise the version: how it is made, and what it does to its own row. */
interface Change {
  readonly act: () => Promise<unknown>;
  readonly row: () => Promise<unknown>;
}

const at = "2026-03-04T10:00:00.000Z";

async function aKeyRef(): Promise<{ id: string; platformId: string; applicationId: string }> {
  const { platform, id: applicationId } = application;
  const { id } = await aKey(relay, application);
  return { id, platformId: platform.id, applicationId };
}

async function keyChange(method: "revoke" | "purge" | "revokeAll" | "purgeAll"): Promise<Change> {
  const { keys } = relay.services.tenants.stores;
  const ref = await aKeyRef();
  return {
    act: () =>
      method === "revoke" || method === "purge" ? keys[method](ref) : keys[method]([ref]),
    row: async () => (await keys.findWithHash(ref.id))?.key.revoked ?? true,
  };
}

async function profileChange(
  from: "active" | "disabled",
  to: "active" | "disabled" | "erasing",
): Promise<Change> {
  const { profiles } = relay.services.tenants.stores;
  const { id: platformId } = application.platform;
  const { id } = await aProfile(relay, application);
  const set = (status: typeof from | typeof to) =>
    profiles.update(platformId, id, (profile) => ({ ...profile, status }));
  await set(from);
  return { act: () => set(to), row: async () => (await profiles.find(platformId, id))?.status };
}

async function userChange(change: object | "delete"): Promise<Change> {
  const { users } = relay.services.people.stores;
  const { id: platformId, session } = application.platform;
  const body = {
    email: `${newId("user", new Date())}@example.com`,
    password: "long enough, surely",
  };
  const made = await relay.call("POST", "/v1/users", { session, body });
  const id: string = made.body.data.id;
  return {
    act: () =>
      change === "delete"
        ? users.deleteUnlessLast(platformId, id)
        : users.update({ platformId, id }, () => change),
    row: async () => {
      const user = await users.find(platformId, id);
      return user && { ...user, secondFactor: user.secondFactor?.confirmed };
    },
  };
}

async function connectionChange(change: "link" | "unlink" | "mark" | "unmark"): Promise<Change> {
  const { connections } = relay.services.connections.stores;
  const { id: profileId } = await aProfile(relay, application);
  const owner = { platformId: application.platform.id, applicationId: application.id, profileId };
  const id = newId("connection", new Date());
  const link = () =>
    connections.saveLinked({
      ...owner,
      id,
      network: "mastodon",
      linked: boundedLinked(aLinkedAccount(id)),
    });
  const linked = change === "link" ? undefined : (await link()).connection;
  const failure = { code: "connection_needs_reauth", networkCode: null } as const;
  if (change === "unmark" && linked !== undefined) await connections.mark(linked, failure);
  const acts = {
    link,
    unlink: () => connections.revoke({ ...owner, network: "mastodon", id }),
    mark: async () => {
      const found = await connections.find({ ...owner, network: "mastodon" });
      if (found !== undefined) await connections.mark(found, failure);
    },
    unmark: async () => {
      const found = await connections.find({ ...owner, network: "mastodon" });
      if (found !== undefined) await connections.mark(found, null);
    },
  };
  return {
    act: acts[change],
    row: async () => (await connections.find({ ...owner, network: "mastodon" }))?.status,
  };
}

function platformChange(status: "suspended" | "active"): Promise<Change> {
  const { platforms } = relay.services.tenants.stores;
  const { id } = application.platform;
  return Promise.resolve({
    act: () => platforms.setStatus(id, status, at),
    row: async () => (await platforms.findAccess(id))?.status,
  });
}

function platformClosing(): Promise<Change> {
  const { platforms, closings } = relay.services.tenants.stores;
  const { id } = application.platform;
  return Promise.resolve({
    act: () => closings.close(id, at, []),
    row: async () => (await platforms.findAccess(id))?.status,
  });
}

function applicationChange(status: "disabled" | "active"): Promise<Change> {
  const { applications, platforms } = relay.services.tenants.stores;
  const { platform, id } = application;
  return Promise.resolve({
    act: () => applications.setStatus(platform.id, id, status, at),
    row: async () => (await platforms.findAccess(platform.id))?.disabledApplicationIds.join(),
  });
}

const FACTOR = { sealedSecret: "sealed", lastStep: 0, recoveryHashes: [] };

const CHANGES: readonly (readonly [string, () => Promise<Change>])[] = [
  ["a key is revoked", () => keyChange("revoke")],
  ["several keys are revoked", () => keyChange("revokeAll")],
  ["a key is deleted", () => keyChange("purge")],
  ["several keys are deleted", () => keyChange("purgeAll")],
  ["a profile is disabled", () => profileChange("active", "disabled")],
  ["a profile is enabled", () => profileChange("disabled", "active")],
  ["a profile is being erased", () => profileChange("active", "erasing")],
  ["sessions end", () => userChange({ sessionVersion: 7 })],
  ["all sessions but one end", () => userChange({ keptSessionId: "a session" })],
  ["a second factor begins", () => userChange({ secondFactor: { ...FACTOR, confirmed: true } })],
  ["a user is removed", () => userChange("delete")],
  ["an application is disabled", () => applicationChange("disabled")],
  ["an application is enabled", () => applicationChange("active")],
  ["a platform is suspended", () => platformChange("suspended")],
  ["a platform is active again", () => platformChange("active")],
  ["a platform is closed", platformClosing],
  ["a closed platform is opened again", () => platformChange("active")],
  ["an account is linked", () => connectionChange("link")],
  ["an account is unlinked", () => connectionChange("unlink")],
  ["an account has to be linked again", () => connectionChange("mark")],
  ["an account is accepted again", () => connectionChange("unmark")],
];

describe("the version is raised in the transaction that writes the row", () => {
  test.each(CHANGES)("the version is raised when %s", async (_name, prepare) => {
    const { act, row } = await prepare();
    const { core } = relay.tables;
    const state = async () => JSON.stringify([await versionNow(), (await row()) ?? null]);
    const states = [await state()];
    const original = core.transact.bind(core);
    const transact = vi.spyOn(core, "transact");
    onTestFinished(() => transact.mockRestore());
    transact.mockImplementation(async (...given) => {
      const result = await original(...given);
      states.push(await state());
      return result;
    });
    await act();
    states.push(await state());
    const [before = "", after = "", ...more] = [...new Set(states)];
    expect(more).toEqual([]);
    const [[versionBefore, rowBefore], [version, rowAfter]] = [
      JSON.parse(before),
      JSON.parse(after),
    ];
    expect(version).not.toBe(versionBefore);
    expect(rowAfter).not.toEqual(rowBefore);
  });

  test.each(CHANGES)("a failure leaves neither row nor version: %s", async (_name, prepare) => {
    const { act, row } = await prepare();
    const { core } = relay.tables;
    const before = [await versionNow(), await row()];
    const transact = vi.spyOn(core, "transact");
    onTestFinished(() => transact.mockRestore());
    transact.mockRejectedValueOnce(serviceUnavailable());
    await expect(act()).rejects.toMatchObject({ code: "service_unavailable" });
    expect([await versionNow(), await row()]).toEqual(before);
    await act();
    expect(await versionNow()).not.toBe(before[0]);
  });
});

describe("the access version", () => {
  test("a partition without a head gets one with its first version, and no wallet", async () => {
    const platformId = newId("platform", new Date());
    const { partitions } = relay.services.access;
    expect(await partitions.readAccessVersion(platformId)).toBe("");
    const version = await partitions.raiseAccess(platformId);
    expect(version).not.toBe("");
    expect(await partitions.readAccessVersion(platformId)).toBe(version);
    const rows = await relay.tables.core.list({ partitionKey: platformId, limit: 10 });
    expect(rows.map(({ row }) => row.rowKey)).toEqual([HEAD_KEY]);
  });

  test("two raises at the same moment make two different versions", async () => {
    const platformId = newId("platform", new Date());
    const { partitions } = relay.services.access;
    const versions = await Promise.all([1, 2, 3].map(() => partitions.raiseAccess(platformId)));
    expect(new Set(versions).size).toBe(3);
    expect(versions).toContain(await partitions.readAccessVersion(platformId));
  });

  test("a movement of tokens leaves the access version as it is", async () => {
    const body = { platformId: application.platform.id, tokens: 5 };
    const before = await versionNow();
    await relay.call("POST", "/v1/billing/admin/credit", { operator: ["Admin"], body });
    expect(await versionNow()).toBe(before);
  });
});
