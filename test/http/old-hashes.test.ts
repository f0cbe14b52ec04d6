import { createHmac } from "node:crypto";
import { TableClient } from "@azure/data-tables";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enabledTotp } from "../setup/authenticator.ts";
import { anApplication, outcomeOf, PASSWORD, type TestApplication } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

const hmac = (pepper: string, text: string) => createHmac("sha256", pepper).update(text).digest();
const OLDER = "o".repeat(40);

let relay: Relay;
let application: TestApplication;
beforeAll(async () => {
  // Rows are put there as the table service keeps them, with the service's own client.
  relay = await startRelay({ emulatedTables: true });
  application = await anApplication(relay);
});
afterAll(() => relay.stop());

function tableOf({ settings }: Relay, name: string): TableClient {
  const connection = settings["AzureWebJobsStorage"] ?? "";
  const options = { allowInsecureConnection: true };
  return TableClient.fromConnectionString(
    connection,
    `${settings["STORAGE_PREFIX"] ?? ""}${name}`,
    options,
  );
}

const secretPartOf = (key: string) => key.split("_")[3] ?? "";

/** A key's row as version 0.2.0 wrote it. */
async function olderKey(key: TestApplication, pepper: string): Promise<void> {
  const keys = tableOf(relay, "keys");
  const { keyDerivation, etag: _, ...row } = await keys.getEntity(key.keyId, "K");
  expect(keyDerivation).toBe("hkdf");
  const keyHash = hmac(pepper, secretPartOf(key.key)).toString("hex");
  await keys.updateEntity({ ...row, partitionKey: key.keyId, rowKey: "K", keyHash }, "Replace");
}

const keyRow = (key: TestApplication) => tableOf(relay, "keys").getEntity(key.keyId, "K");

/** A password's hash as version 0.2.0 made it. */
function olderHash(password: string, pepper: string): string {
  const id = hmac(pepper, "pepper id").toString("hex").slice(0, 8);
  return `${id}:${hashSync(hmac(pepper, `password|${password}`).toString("base64"), 4)}`;
}

const pepper = () => relay.services.config.identity.keyPepper;
const me = async (key: string, on = relay) => outcomeOf(await on.call("GET", "/v1/me", { key }));
const logIn = async (email: string, more: object = {}, on = relay) =>
  outcomeOf(
    await on.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD, ...more } }),
  );

describe("a key of version 0.2.0", () => {
  test("works, and its row is renewed by the use that is noted", async () => {
    const key = await anApplication(relay);
    await olderKey(key, pepper());
    const asked = await Promise.all([me(key.key), me(key.key)]);
    expect(asked).toEqual(["200", "200"]);
    await expect.poll(async () => (await keyRow(key))["keyDerivation"]).toBe("hkdf");
    expect((await keyRow(key))["keyHash"]).not.toBe(
      hmac(pepper(), secretPartOf(key.key)).toString("hex"),
    );
    expect(await me(key.key)).toBe("200");
  });

  test("is no key with another secret, whatever its row says", async () => {
    const [mine, other] = [await anApplication(relay), await anApplication(relay)];
    await olderKey(mine, pepper());
    const keys = tableOf(relay, "keys");
    const { keyHash } = await keyRow(other);
    const row = { partitionKey: mine.keyId, rowKey: "K", keyHash };
    await keys.updateEntity(row, "Merge");
    expect(await me(mine.key)).toBe("401 invalid_credentials");
  });

  test("does not work by the hash of today in a row that says nothing of a derivation", async () => {
    const key = await anApplication(relay);
    const keys = tableOf(relay, "keys");
    const { keyDerivation: _, etag: _etag, ...row } = await keyRow(key);
    const place = { partitionKey: key.keyId, rowKey: "K" };
    await keys.updateEntity({ ...row, ...place }, "Replace");
    expect(await me(key.key)).toBe("401 invalid_credentials");
  });

  test("that was revoked stays so: renewing never brings a key back", async () => {
    const key = await anApplication(relay);
    await olderKey(key, pepper());
    const { session } = key.platform;
    await relay.call("POST", `/v1/keys/${key.keyId}/revoke`, { session });
    expect(await me(key.key)).toBe("401 api_key_revoked");
    expect((await keyRow(key))["keyDerivation"]).toBeUndefined();
  });

  test("works with the pepper of before too", async () => {
    const key = await anApplication(relay);
    await olderKey(key, OLDER);
    const settings = { KEY_PEPPER_PREVIOUS: OLDER };
    const rotated = await startRelay({ sameDeploymentAs: relay, settings });
    expect(await me(key.key, rotated)).toBe("200");
    expect(await me(key.key)).toBe("200");
    await rotated.stop();
  });
});

describe("a user of version 0.2.0", () => {
  const storedUser = async ({ platform }: TestApplication) =>
    relay.services.users.find(platform.id, platform.userId);
  const setColumns = async (of: TestApplication, columns: Record<string, string>) => {
    const tenants = tableOf(relay, "tenants");
    const filter = `PartitionKey eq '${of.platform.id}' and email eq '${of.platform.email}'`;
    for await (const { rowKey = "" } of tenants.listEntities({ queryOptions: { filter } }))
      await tenants.updateEntity({ partitionKey: of.platform.id, rowKey, ...columns }, "Merge");
  };

  test.each(["current", "previous"])(
    "signs in with a password of the %s pepper, which is hashed anew once",
    async (which) => {
      const made = which === "current" ? pepper() : OLDER;
      const user = await anApplication(relay);
      const { email } = user.platform;
      await setColumns(user, { passwordHash: olderHash(PASSWORD, made) });
      const settings = { KEY_PEPPER_PREVIOUS: OLDER };
      const rotated = await startRelay({ sameDeploymentAs: relay, settings });
      expect(await logIn(email, { password: "another password" }, rotated)).toMatch(/^401/);
      expect((await storedUser(user))?.passwordHash).toMatch(
        new RegExp(`^${olderHash("", made).slice(0, 8)}:`),
      );
      expect(await logIn(email, {}, rotated)).toBe("200");
      const renewed = (await storedUser(user))?.passwordHash ?? "";
      expect(relay.services.passwords.isOutdated(renewed)).toBe(false);
      expect(await logIn(email)).toBe("200");
      expect((await storedUser(user))?.passwordHash).toBe(renewed);
      await rotated.stop();
    },
  );

  test("signs in with a recovery code of then, once", async () => {
    const user = await anApplication(relay);
    const { email, session, userId } = user.platform;
    await enabledTotp(relay, session);
    const code = "7K3QM9XW21";
    const hash = hmac(pepper(), `recovery code|${userId}|${code}`).toString("base64url");
    await setColumns(user, { recoveryHashes: hash });
    expect(await logIn(email, { totpCode: "7K3QM-9XW22" })).toMatch(/^401/);
    expect(await logIn(email, { totpCode: "7k3qm-9xw21" })).toBe("200");
    expect(await logIn(email, { totpCode: "7K3QM-9XW21" })).toMatch(/^401/);
  });
});

test("what is stored today was made with a key of its own for each use", async () => {
  const { session, userId, id } = application.platform;
  const { recoveryCodes } = await enabledTotp(relay, session);
  const user = await relay.services.users.find(id, userId);
  const code = recoveryCodes[0]?.replace("-", "") ?? "";
  const raw = hmac(pepper(), `recovery code|${userId}|${code}`).toString("base64url");
  expect(user?.secondFactor?.recoveryHashes).toHaveLength(10);
  expect(user?.secondFactor?.recoveryHashes.join()).not.toContain(raw);
  expect(user?.passwordHash.slice(0, 8)).not.toBe(olderHash("", pepper()).slice(0, 8));
  const { keyHash } = await keyRow(application);
  expect(keyHash).not.toBe(hmac(pepper(), secretPartOf(application.key)).toString("hex"));
});
