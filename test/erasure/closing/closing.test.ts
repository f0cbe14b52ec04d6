import { describe, expect, test } from "vitest";
import { startSandbox } from "../../../sandbox/server.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { dataOf, freshSession, outcomeOf, PASSWORD } from "../../setup/factories.ts";
import { startRelay } from "../../setup/relay.ts";
import { reconcileWallets, wakesOf } from "../../setup/walks.ts";
import { startReceiver } from "../../webhooks/receiver.ts";
import {
  aCustomer,
  askToClose,
  close,
  DAY,
  MINUTE,
  pass,
  readPlatform,
  setStatus,
  startWorld,
  traces,
  untilErased,
  type Customer,
} from "./world.ts";
import { connectionsOf } from "../../setup/stored.ts";
import { forFile } from "../../setup/for-file.ts";

const sandbox = forFile(() => startSandbox());
const receiver = forFile(() => startReceiver());
const world = forFile(() => startWorld(sandbox, receiver, { SIGNUP_CREDIT_TOKENS: "500" }));

const scheduledOf = ({ owner, scheduledId }: Customer) =>
  world.relay.services.publishing.stores.posts.findPost({ ...owner, postId: scheduledId });

const logIn = (email: string) =>
  world.relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } });

/** Adds a member of staff, who is no owner unless it is said. */
async function colleague(customer: Customer, role: "owner" | "member"): Promise<string> {
  const email = `${role}-${customer.mark}@example.com`;
  const session = await freshSession(world.before, customer);
  const body = { email, password: PASSWORD, role };
  dataOf(await world.before.call("POST", "/v1/users", { session, body }));
  return email;
}

describe("a request to close a platform", () => {
  test("names the platform, and comes from an owner", async () => {
    const customer = await aCustomer(world);
    const wrong = await askToClose(world.relay, customer, "Another name");
    expect([outcomeOf(wrong), wrong.body.error.details.issues[0].path]).toEqual([
      "400 validation_failed",
      "name",
    ]);
    const member = await colleague(customer, "member");
    expect(outcomeOf(await askToClose(world.relay, { email: member }))).toBe("403 owner_required");
    expect(dataOf(await readPlatform(world.relay, customer)).status).toBe("active");
  });

  test("a request to close a platform takes its name however a keyboard composes the letters", async () => {
    const email = `cafe-${newId("user", world.relay.clock.now())}@example.com`;
    const platformName = "Café Zürich".normalize("NFC");
    const body = { email, password: PASSWORD, platformName };
    dataOf(await world.before.call("POST", "/v1/auth/signup", { body }));
    const closed = await askToClose(world.relay, { email }, "Café Zürich".normalize("NFD"));
    expect(dataOf(closed).status).toBe("closed");
  });

  test("a request to close a platform is answered with the time of the end, which operators see too", async () => {
    const customer = await aCustomer(world);
    const erasedAt = await close(world.relay, customer);
    const shown = dataOf(await readPlatform(world.relay, customer));
    expect(shown).toMatchObject({ status: "closed", erasedAt });
    expect(Date.parse(erasedAt) - Date.parse(shown.updatedAt)).toBe(7 * DAY);
  });
});

describe("a platform that is closed", () => {
  test("lets nobody in, on any instance, from the answer on", async () => {
    const customer = await aCustomer(world);
    const { key, headers, profileId, scheduledId, publishedId, mark } = customer;
    const session = await freshSession(world.relay, customer);
    const other = await startRelay({ sameDeploymentAs: world.relay });
    // The other instance has cached what it checks keys against.
    dataOf(await other.call("GET", `/v1/posts/${publishedId}`, { key, headers }));
    await close(world.relay, customer);
    const post = { text: `No ${mark}`, platforms: ["bluesky"] };
    const idempotent = { ...headers, "idempotency-key": `closing-${mark}` };
    const answers = [
      await other.call("GET", `/v1/posts/${publishedId}`, { key, headers }),
      await other.call("POST", "/v1/posts", { key, headers: idempotent, body: post }),
      await other.call("POST", `/v1/posts/${publishedId}/retry`, { key, headers }),
      await other.call("PATCH", `/v1/posts/${scheduledId}`, { key, headers, body: post }),
      await other.call("POST", `/v1/profiles/${profileId}/connect/sessions`, { key, body: {} }),
      await other.call("GET", "/v1/me", { session }),
      await other.call("POST", "/v1/platform/close", { session, body: { name: "Example Media" } }),
      await logIn(customer.email),
    ];
    expect(new Set(answers.map(outcomeOf))).toEqual(new Set(["403 platform_closed"]));
    const wrong = await other.call("POST", "/v1/auth/login", {
      body: { email: customer.email, password: "not the right one" },
    });
    expect(outcomeOf(wrong)).toBe("401 invalid_credentials");
    await other.stop();
  });

  test("a platform that is closed has its scheduled posts canceled, its keys revoked and its connections ended", async () => {
    const customer = await aCustomer(world);
    expect(await connectionsOf(world.relay.services, customer.owner)).toHaveLength(2);
    await close(world.relay, customer);
    await pass(world.relay, 3);
    expect((await scheduledOf(customer))?.status).toBe("canceled");
    const { application, owner, platformId } = customer;
    const { keys } = world.relay.services.tenants.stores;
    expect((await keys.find(platformId, application.keyId))?.revoked).toBe(true);
    for (const network of ["bluesky", "mastodon"] as const) {
      const { connections } = world.relay.services.connections.stores;
      const opened = await connections.open({ ...owner, network });
      expect(opened).toMatchObject({ connection: { status: "revoked" }, credentials: undefined });
    }
    const audit = world.relay.services.audit.listAll(
      {
        requestId: "",
        ip: "",
        caller: { kind: "operator", subject: "test", roles: ["Admin"] },
      },
      { limit: 100 },
    );
    const done = audit.items.filter((one) => one.platformId === platformId);
    const count = (action: string) => done.filter((one) => one.action === action).length;
    expect([count("platform.closed"), count("connection.removed")]).toEqual([1, 2]);
    expect(count("post.canceled")).toBe(1);
  });

  test("reports to its webhooks what ends", async () => {
    const customer = await aCustomer(world);
    const { platformId, scheduledId } = customer;
    await close(world.relay, customer);
    await pass(world.relay, 5);
    const [endpoint] = await world.relay.services.webhooks.stores.endpoints.listAll(platformId);
    const path = new URL(endpoint?.url ?? "").pathname;
    const events = receiver.received(path).map(({ body }) => JSON.parse(body));
    const canceled = events.filter(({ type }) => type === "post.canceled");
    expect(canceled.map(({ data }) => data.post.id)).toEqual([scheduledId]);
  });

  test("a platform that is closed does not start a post that falls due before it is canceled", async () => {
    const customer = await aCustomer(world);
    const dueMs = 6 * 60 * MINUTE;
    world.relay.advance(dueMs - MINUTE);
    await close(world.relay, customer);
    world.relay.advance(2 * MINUTE);
    await world.relay.runTimer("fire-due-posts");
    await world.relay.drain();
    expect((await scheduledOf(customer))?.status).toBe("scheduled");
    await pass(world.relay, 10);
    await world.relay.runTimer("fire-due-posts");
    await world.relay.drain();
    expect((await scheduledOf(customer))?.status).toBe("canceled");
    const wakes = await wakesOf(world.relay.services, "post");
    expect(wakes.filter(({ id }) => id.includes(customer.scheduledId))).toEqual([]);
  });

  test("a platform that is closed can't be suspended or credited", async () => {
    const customer = await aCustomer(world);
    await close(world.relay, customer);
    const credit = { platformId: customer.platformId, tokens: 5 };
    const call = { operator: ["Admin"], body: credit };
    const answers = [
      await setStatus(world.relay, customer, "suspended"),
      await world.relay.call("POST", "/v1/billing/admin/credit", call),
    ];
    expect(answers.map(outcomeOf)).toEqual(["409 invalid_state", "409 invalid_state"]);
  });

  test("tells its owners at once and a day before the end, and nobody else", async () => {
    const customer = await aCustomer(world);
    const [owner, member] = [
      await colleague(customer, "owner"),
      await colleague(customer, "member"),
    ];
    const erasedAt = await close(world.relay, customer);
    const subjects = async (email: string) =>
      (await world.mailed.mailsTo(email)).map(({ subject }) => subject);
    const closed = "Your platform on Relay was closed";
    const ending = "Your platform on Relay is about to be erased";
    // An instance that could not reach the mail server may have noted so for all, until the next try.
    await pass(world.relay, 1);
    for (const email of [customer.email, owner]) expect(await subjects(email)).toEqual([closed]);
    const [mail] = await world.mailed.mailsTo(owner);
    const day = String(new Date(erasedAt).getUTCDate());
    expect(mail?.text).toContain(day);
    world.relay.advance(6 * DAY - 10 * MINUTE);
    await pass(world.relay, 3);
    expect(await subjects(owner)).toEqual([closed]);
    await pass(world.relay, 60);
    for (const email of [customer.email, owner])
      expect(await subjects(email)).toEqual([closed, ending]);
    expect(await subjects(member)).toEqual([]);
  });
});

describe("a closed platform that operators open again", () => {
  test("a closed platform that operators open again has its staff, posts and tokens, and neither keys nor connections", async () => {
    const customer = await aCustomer(world);
    const { key, headers, publishedId, application } = customer;
    const before = dataOf(await readPlatform(world.relay, customer)).tokenBalance;
    await close(world.relay, customer);
    // Before any run of the walk.
    const opened = dataOf(await setStatus(world.relay, customer, "active"));
    expect(opened).toMatchObject({ status: "active", tokenBalance: before });
    expect(opened).not.toHaveProperty("erasedAt");
    const read = await world.relay.call("GET", `/v1/posts/${publishedId}`, { key, headers });
    expect(outcomeOf(read)).toBe("401 api_key_revoked");
    expect(
      (await connectionsOf(world.relay.services, customer.owner)).map(({ status }) => status),
    ).toEqual(["revoked", "revoked"]);
    expect((await scheduledOf(customer))?.status).toBe("canceled");
    const session = await freshSession(world.relay, customer);
    const own = { session, headers };
    expect(dataOf(await world.relay.call("GET", `/v1/posts/${publishedId}`, own)).id).toBe(
      publishedId,
    );
    const made = await world.relay.call("POST", "/v1/keys", {
      session,
      headers: { "x-application-id": application.id },
      body: {},
    });
    expect(made.status).toBe(201);
    // Nothing of the former end comes back.
    world.relay.advance(8 * DAY);
    await pass(world.relay, 60);
    const { id } = dataOf(made);
    expect(dataOf(await readPlatform(world.relay, customer)).status).toBe("active");
    const { keys } = world.relay.services.tenants.stores;
    expect((await keys.find(customer.platformId, id))?.revoked).toBe(false);
    expect((await world.relay.services.erasure.erasures.list(undefined)).items).not.toContainEqual(
      expect.objectContaining({ id: customer.platformId }),
    );
  });

  test("a closed platform that operators open again is opened once no network is being called for it, and tells its owners", async () => {
    const customer = await aCustomer(world);
    const { email, mark, owner } = customer;
    const text = `Lost answer ${mark} [drop-answer]`;
    const body = { text, platforms: ["mastodon"] };
    const { id: postId } = await customer.at(world.relay).accept(body);
    await world.relay.drain();
    const legOf = async () => {
      const found = await world.relay.services.publishing.stores.posts.find({ ...owner, postId });
      return found?.legs[0];
    };
    expect(await legOf()).toMatchObject({ calls: [{ state: "sent" }] });
    await close(world.relay, customer);
    expect(outcomeOf(await setStatus(world.relay, customer, "active"))).toBe("409 invalid_state");
    expect(
      (await connectionsOf(world.relay.services, customer.owner)).map(({ status }) => status),
    ).toContain("active");
    await pass(world.relay, 20);
    expect(await legOf()).toMatchObject({ calls: [{ state: "done" }] });
    expect(
      (await connectionsOf(world.relay.services, customer.owner)).map(({ status }) => status),
    ).toEqual(["revoked", "revoked"]);
    const open = () => setStatus(world.relay, customer, "active");
    expect(dataOf(await open()).status).toBe("active");
    expect(dataOf(await open()).status).toBe("active");
    const subjects = (await world.mailed.mailsTo(email)).map(({ subject }) => subject);
    expect(subjects).toEqual([
      "Your platform on Relay was closed",
      "Your platform on Relay is open again",
    ]);
  });

  test("a closed platform that operators open again can be closed once more, which counts seven days from then", async () => {
    const customer = await aCustomer(world);
    await close(world.relay, customer);
    world.relay.advance(5 * DAY);
    dataOf(await setStatus(world.relay, customer, "active"));
    await close(world.relay, customer);
    world.relay.advance(3 * DAY);
    await pass(world.relay, 30);
    expect(dataOf(await readPlatform(world.relay, customer)).status).toBe("closed");
    world.relay.advance(4 * DAY);
    await untilErased(world.relay, customer);
  });
});

describe("a platform whose seven days are over", () => {
  test("a platform whose seven days are over is erased with more profiles than are erased at a time", async () => {
    const customer = await aCustomer(world);
    const { platformId, application, profileId } = customer;
    const { profiles } = world.relay.services.tenants.stores;
    const found = await profiles.find(platformId, profileId);
    if (found === undefined) throw new Error("the profile is gone");
    for (let number = 0; number < 55; number += 1) {
      const id = newId("profile", world.relay.clock.now());
      const externalId = `${customer.mark}-${number}`;
      await profiles.create(platformId, {
        ...found,
        id,
        applicationId: application.id,
        externalId,
      });
    }
    await close(world.relay, customer);
    await pass(world.relay, 3);
    world.relay.advance(7 * DAY);
    await untilErased(world.relay, customer);
    await pass(world.relay, 5);
    const left = await traces(world.relay, customer);
    expect(left.filter(({ rowKey }) => rowKey !== "C")).toEqual([]);
    expect((await world.relay.services.erasure.erasures.list(undefined)).items).toEqual([]);
  });

  test("leaves nothing behind in any table, and its emails are free; its starting credit is not", async () => {
    const customer = await aCustomer(world);
    const { email, platformId } = customer;
    expect((await traces(world.relay, customer)).length).toBeGreaterThan(30);
    await close(world.relay, customer);
    world.relay.advance(7 * DAY - 5 * MINUTE);
    await pass(world.relay, 3);
    expect(dataOf(await setStatus(world.relay, customer, "active")).status).toBe("active");
    await close(world.relay, customer);
    world.relay.advance(7 * DAY);
    await pass(world.relay, 2);
    expect(outcomeOf(await setStatus(world.relay, customer, "active"))).toBe("409 invalid_state");
    await untilErased(world.relay, customer);
    await pass(world.relay, 5);

    const left = await traces(world.relay, customer);
    // Only a keyed hash is kept of the starting credit, with the id of a platform that is gone; counters end by themselves.
    expect(
      left.filter(({ rowKey }) => rowKey !== "C").map(({ table, rowKey }) => [table, rowKey]),
    ).toEqual([]);
    expect(left.map(({ table }) => table)).toEqual(["emails"]);
    const again = await world.before.call("POST", "/v1/auth/signup", {
      body: { email, password: PASSWORD, platformName: "Once more" },
    });
    const { token: session, platform } = dataOf(again);
    expect(platform.id).not.toBe(platformId);
    const me = dataOf(await world.before.call("GET", "/v1/me", { session }));
    expect(me.tokenBalance).toBe(0);
    await reconcileWallets(world.relay.services);
    const complaints = world.relay.logLines.filter(
      (line) => line.includes(platformId) && line.includes('"level":"error"'),
    );
    expect(complaints).toEqual([]);
  });
});
