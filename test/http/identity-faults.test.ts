import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startedTotp } from "../setup/authenticator.ts";
import {
  anApplication,
  aPlatform,
  dataOf,
  PASSWORD,
  type TestApplication,
  freshSession,
} from "../setup/factories.ts";
import type { TableFault } from "../model/storage-model.ts";
import { faultsAtWrites, startFaultedRelay, type FaultedRelay } from "../setup/faulted-relay.ts";
import type { Answer, Relay } from "../setup/relay.ts";

/** No call here writes more often. */
const WRITES_MAX = 4;

let faulted: FaultedRelay;
let calm: Relay;
let relay: Relay;

beforeEach(async () => {
  faulted = await startFaultedRelay();
  ({ calm, relay } = faulted);
});
afterEach(() => faulted.stop());

/** Calls under the fault and, when it was told that nothing is known, once more when the weather is fine. */
async function persistently(fault: TableFault, nth: number, call: () => Promise<Answer>) {
  faulted.next(fault, nth);
  const first = await call();
  faulted.clear();
  expect(first.status === 503 || first.status < 300).toBe(true);
  if (first.status !== 503) return first;
  await faulted.land();
  return await call();
}

test("the faults are met: a lost write on a condition is a 503 that can be repeated", async () => {
  const body = { email: "lost@example.com", password: PASSWORD, platformName: "Lost" };
  const create = () => relay.call("POST", "/v1/auth/signup", { body });
  // The claim of the email.
  faulted.next("lose_request", 1);
  const { status, headers, body: answer } = await create();
  expect([status, answer.error.code]).toEqual([503, "service_unavailable"]);
  expect(headers.get("retry-after")).toBe("1");
  expect((await create()).status).toBe(201);
});

describe.each(faultsAtWrites(WRITES_MAX))("with %s at write %i", (fault, nth) => {
  test("a sign-up ends in one account that works", async () => {
    const email = "storm@example.com";
    const body = { email, password: PASSWORD, platformName: "Storm" };
    const signUp = () => relay.call("POST", "/v1/auth/signup", { body });
    let answer = await persistently(fault, nth, signUp);
    const logIn = () =>
      relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } });
    if (answer.status === 409 && (await logIn()).status === 401) {
      // Only the claim of the email survived; it can be taken over in time.
      relay.advance(11 * 60_000);
      answer = await signUp();
      expect(answer.status).toBe(201);
    }
    const { token, platform } = dataOf(await logIn());
    expect((await relay.call("GET", "/v1/me", { session: token })).body.data.id).toBe(platform.id);
    const all = await relay.call("GET", "/v1/admin/platforms", { operator: ["Admin"] });
    expect(all.body.data.map(({ id }: { id: string }) => id)).toEqual([platform.id]);
  });

  test("an invitation and its use end in one user who can log in", async () => {
    const { session } = await aPlatform(calm, { tokens: 0 });
    const email = "invited@example.com";
    const invite = () => relay.call("POST", "/v1/invitations", { session, body: { email } });
    const { url } = dataOf(await persistently(fault, nth, invite));
    const token = new URL(url).searchParams.get("token");
    const body = { token, password: PASSWORD };
    const accept = () => relay.call("POST", "/v1/auth/invitations/accept", { body });
    const accepted = await persistently(fault, nth, accept);
    // The link is used up where the first call was applied, and its answer was lost.
    expect([201, 400]).toContain(accepted.status);
    const logIn = { body: { email, password: PASSWORD } };
    const { user } = dataOf(await relay.call("POST", "/v1/auth/login", logIn));
    const users = dataOf(await relay.call("GET", "/v1/users", { session }));
    expect(
      users.map(({ id }: { id: string }) => id).filter((id: string) => id === user.id),
    ).toEqual([user.id]);
    expect(users).toHaveLength(2);
    expect(dataOf(await relay.call("GET", "/v1/invitations", { session }))).toEqual([]);
  });

  test("a key that was made works, one that was ended does not", async () => {
    const application: TestApplication = await anApplication(calm);
    const { key } = application;

    const made = await persistently(fault, nth, () =>
      relay.call("POST", "/v1/keys", { key, body: {} }),
    );
    const { id, secret } = dataOf(made);
    expect((await relay.call("GET", "/v1/me", { key: secret })).status).toBe(200);
    const revoked = await persistently(fault, nth, () =>
      relay.call("POST", `/v1/keys/${id}/revoke`, { key }),
    );
    expect(revoked.status).toBe(204);
    expect((await relay.call("GET", "/v1/me", { key: secret })).status).toBe(401);
    const deleted = await persistently(fault, nth, () =>
      relay.call("DELETE", `/v1/keys/${id}`, { key }),
    );
    expect([204, 404]).toContain(deleted.status);
    const listed = await relay.call("GET", "/v1/keys?limit=100", { key });
    expect(listed.body.data.map((item: { id: string }) => item.id)).not.toContain(id);
  });

  test("one external id stays with one profile, whatever was repeated", async () => {
    const { key } = await anApplication(calm);
    const create = () =>
      relay.call("POST", "/v1/profiles", { key, body: { title: "t", externalId: "one" } });
    const created = await persistently(fault, nth, create);
    const id: string =
      created.status === 409 ? created.body.error.details.existingId : dataOf(created).id;
    const renamed = await persistently(fault, nth, () =>
      relay.call("PATCH", `/v1/profiles/${id}`, { key, body: { externalId: "two" } }),
    );
    expect(dataOf(renamed).externalId).toBe("two");
    const list = await relay.call("GET", "/v1/profiles", { key });
    expect(list.body.data.map((profile: { id: string }) => profile.id)).toEqual([id]);
    expect((await create()).status).toBe(201);
    const taken = await relay.call("POST", "/v1/profiles", {
      key,
      body: { title: "t", externalId: "two" },
    });
    expect([taken.status, taken.body.error.details.existingId]).toEqual([409, id]);
  });

  test("a changed password is the only one, and the session that changed it goes on", async () => {
    const { email, session } = await aPlatform(calm, { tokens: 0 });
    const newPassword = "another and longer password";
    const body = { currentPassword: PASSWORD, newPassword };
    const { status } = await persistently(fault, nth, () =>
      relay.call("POST", "/v1/auth/password", { session, body }),
    );
    expect(status).toBe(200);
    const statusWith = async (password: string) =>
      (await relay.call("POST", "/v1/auth/login", { body: { email, password } })).status;
    expect([await statusWith(PASSWORD), await statusWith(newPassword)]).toEqual([401, 200]);
    expect((await relay.call("GET", "/v1/me", { session })).status).toBe(200);
  });

  test("TOTP is on with the codes that were shown, and each code logs in once", async () => {
    const { email, session } = await aPlatform(calm, { tokens: 0 });
    const app = await startedTotp(calm, session);
    const confirmed = await persistently(fault, nth, () =>
      relay.call("POST", "/v1/auth/totp/confirm", { session, body: { code: app.code() } }),
    );
    const { recoveryCodes } = dataOf(confirmed);
    const logIn = (totpCode: string) =>
      relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD, totpCode } });
    for (const code of [recoveryCodes[0], app.code(1)]) {
      expect((await persistently(fault, nth, () => logIn(code))).status).toBe(200);
      await faulted.land();
      expect((await logIn(code)).status).toBe(401);
    }
    const removal = { password: PASSWORD, code: recoveryCodes[1] };
    const removed = await persistently(fault, nth, () =>
      relay.call("DELETE", "/v1/auth/totp", { session, body: removal }),
    );
    expect(removed.status).toBe(204);
    expect((await logIn("")).status).toBe(200);
  });

  test("a colleague is one user while they belong to the staff, and nobody afterwards", async () => {
    const platform = await aPlatform(calm, { tokens: 0 });
    let { session } = platform;
    const email = "colleague@example.com";
    const invite = () =>
      relay.call("POST", "/v1/users", { session, body: { email, password: PASSWORD } });
    const logIn = () =>
      relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } });
    const emails = async () => {
      const list = await relay.call("GET", "/v1/users", { session });
      return list.body.data.map((user: { email: string }) => user.email);
    };
    let invited = await persistently(fault, nth, invite);
    if (invited.status === 409) {
      // Only the claim of the email survived; it can be taken over in time.
      relay.advance(11 * 60_000);
      session = await freshSession(calm, platform);
      invited = await invite();
    }
    const { id } = dataOf(invited);
    expect((await emails()).filter((one: string) => one === email)).toHaveLength(1);
    const theirs = dataOf(await logIn()).token;

    // The invitation's first try would otherwise make the user again after the removal.
    await faulted.land();
    const removed = await persistently(fault, nth, () =>
      relay.call("DELETE", `/v1/users/${id}`, { session }),
    );
    expect([204, 404]).toContain(removed.status);
    expect(await emails()).not.toContain(email);
    expect((await relay.call("GET", "/v1/me", { session: theirs })).status).toBe(401);
    expect((await logIn()).status).toBe(401);
    relay.advance(11 * 60_000);
    session = await freshSession(calm, platform);
    expect((await invite()).status).toBe(201);
  });
});
