import { afterEach, describe, expect, test } from "vitest";
import { enabledTotp } from "../setup/authenticator.ts";
import {
  aKey,
  anApplication,
  aPlatform,
  dataOf,
  freshSession,
  PASSWORD,
} from "../setup/factories.ts";
import { tokenIn } from "../setup/mail.ts";
import { useMailedRelay, useRelay } from "../setup/use-relay.ts";

const DAY = 24 * 60 * 60_000;

/** Makes users who are verified, because it sends no mail. */
const plain = useRelay();
let calls = 0;
const mailed = useMailedRelay(() => ({
  sameDeploymentAs: plain,
  settings: { ALLOW_DIRECT_USERS: "true" },
  tableFault() {
    calls += 1;
    return "pass";
  },
}));
afterEach(() => mailed.mailbox.clear());

const subjects = async (email: string) =>
  (await mailed.mailsTo(email)).map(({ subject }) => subject);
const post = (path: string, body: object, session?: string) =>
  mailed.relay.call("POST", path, { body, ...(session === undefined ? {} : { session }) });

let count = 0;
/** A user of a platform who was made by an owner. */
async function aColleague(session: string, role: string) {
  const email = `colleague-${(count += 1)}@example.com`;
  const body = { email, password: PASSWORD, role };
  const { id } = dataOf(await plain.call("POST", "/v1/users", { session, body }));
  return { email, id };
}

describe("a login", () => {
  const logIn = (email: string, address: string, more: object = {}) =>
    mailed.relay.call("POST", "/v1/auth/login", {
      headers: { "x-forwarded-for": address },
      body: { email, password: PASSWORD, ...more },
    });

  test("a login from a device and a network that are both unknown is told, once a day", async () => {
    const { email } = await aPlatform(plain);
    const { deviceToken } = dataOf(await logIn(email, "203.0.113.7"));
    const [mail, ...others] = await mailed.mailsTo(email);
    expect(others).toEqual([]);
    expect(mail?.subject).toMatch(/was used on a new device$/);
    expect(mail?.text).toContain("From: 203.0.113.7");
    dataOf(await logIn(email, "203.0.113.99"));
    dataOf(await logIn(email, "198.51.100.1", { deviceToken }));
    dataOf(await logIn(email, "198.51.100.2"));
    dataOf(await logIn(email, "192.0.2.1"));
    expect(await subjects(email)).toHaveLength(1);
    mailed.relay.advance(DAY);
    // The network of the login without a notice is still unknown.
    dataOf(await logIn(email, "192.0.2.2"));
    expect((await mailed.mailsTo(email)).at(-1)?.text).toContain("192.0.2.2");
    dataOf(await logIn(email, "192.0.2.3"));
    expect(await subjects(email)).toHaveLength(2);
  });

  test("of two logins from unknown devices at one time, one is told", async () => {
    const { email } = await aPlatform(plain);
    const answers = await Promise.all(
      ["203.0.113.7", "198.51.100.7", "192.0.2.7"].map((address) => logIn(email, address)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await subjects(email)).toHaveLength(1);
  });

  test("asks storage at most twice more where it is told, and no more otherwise", async () => {
    const cost = async (email: string) => {
      calls = 0;
      dataOf(await logIn(email, "203.0.113.7"));
      return calls;
    };
    // Storage now and then cuts an answer in two.
    const [told, known]: [number[], number[]] = [[], []];
    for (let times = 0; times < 3; times += 1) {
      const { email } = await aPlatform(plain);
      told.push(await cost(email));
      known.push(await cost(email));
    }
    expect(Math.min(...known)).toBe(7);
    // The message to the walk is one of both, and no call to a table.
    expect(Math.min(...told)).toBeLessThanOrEqual(9);
  });

  test("a login of an email that is not verified is told to nobody", async () => {
    const email = `unverified-${(count += 1)}@example.com`;
    const body = { email, password: PASSWORD, platformName: "Example" };
    dataOf(await post("/v1/auth/signup", body));
    dataOf(await logIn(email, "203.0.113.7"));
    expect(await subjects(email)).toHaveLength(1);
  });
});

describe("five wrong codes after the right password", () => {
  test("five wrong codes after the right password are told once a day, at login and elsewhere", async () => {
    const { email, session } = await aPlatform(plain);
    const { code } = await enabledTotp(plain, session);
    const tries = (times: number, path: string, own?: string) =>
      Promise.all(
        Array.from({ length: times }, (_, nth) => {
          const headers = { "x-forwarded-for": `203.0.${(count += 1)}.${nth}` };
          const body = { password: PASSWORD, totpCode: "000000" };
          const more = own === undefined ? { body: { ...body, email } } : { body, session: own };
          return mailed.relay.call("POST", path, { headers, ...more });
        }),
      );
    await tries(4, "/v1/auth/login");
    expect(await subjects(email)).toEqual([]);
    await tries(1, "/v1/auth/confirm", session);
    expect(await subjects(email)).toMatchObject([expect.stringMatching(/^Wrong codes/)]);
    await tries(5, "/v1/auth/login");
    mailed.relay.advance(2 * 60 * 60_000);
    await tries(6, "/v1/auth/login");
    expect(await subjects(email)).toHaveLength(1);
    mailed.relay.advance(DAY);
    await tries(6, "/v1/auth/login");
    expect(await subjects(email)).toHaveLength(2);
    mailed.relay.advance(DAY);
    const right = { email, password: PASSWORD, totpCode: code() };
    expect((await post("/v1/auth/login", right)).status).toBe(200);
  });

  test("bring no mail where the password is wrong", async () => {
    const { email, session } = await aPlatform(plain);
    await enabledTotp(plain, session);
    for (let nth = 0; nth < 6; nth += 1)
      await mailed.relay.call("POST", "/v1/auth/login", {
        headers: { "x-forwarded-for": `203.0.113.${nth}` },
        body: { email, password: "not the right one", totpCode: "000000" },
      });
    expect(await subjects(email)).toEqual([]);
  });
});

describe("the user gets a mail about", () => {
  test("a second factor that is switched on or off", async () => {
    const { email, session } = await aPlatform(plain);
    const { recoveryCodes } = await enabledTotp(mailed.relay, session);
    expect(await subjects(email)).toMatchObject([
      expect.stringMatching(/^Two-factor authentication is on/),
    ]);
    const body = { password: PASSWORD, code: recoveryCodes[0] };
    expect((await post("/v1/auth/totp/remove", body, session)).status).toBe(204);
    expect((await subjects(email)).at(-1)).toMatch(/^Two-factor authentication is off/);
  });

  test("a second factor that an operator's link switches off", async () => {
    const owner = await aPlatform(plain);
    await enabledTotp(plain, owner.session);
    const path = `/v1/admin/platforms/${owner.id}/users/${owner.userId}/reset-link`;
    const call = { operator: ["Admin"], body: { removeTotp: true } };
    const { url } = dataOf(await mailed.relay.call("POST", path, call));
    const token = new URL(url).searchParams.get("token") ?? "";
    dataOf(await post("/v1/auth/reset/confirm", { token, newPassword: "violet marmot 7 teacups" }));
    const told = await subjects(owner.email);
    expect(told.filter((subject) => subject.startsWith("An operator"))).toHaveLength(1);
    expect(told.filter((subject) => subject.endsWith("password was changed"))).toHaveLength(1);
    expect(
      told.filter((subject) => subject.startsWith("Two-factor authentication is off")),
    ).toHaveLength(1);
  });
});

describe("owners get a mail about", () => {
  test("an operator's reset link for a colleague; members are not", async () => {
    const owner = await aPlatform(plain);
    const [one, other] = [
      await aColleague(owner.session, "member"),
      await aColleague(owner.session, "member"),
    ];
    const path = `/v1/admin/platforms/${owner.id}/users/${one.id}/reset-link`;
    dataOf(await mailed.relay.call("POST", path, { operator: ["Admin"], body: {} }));
    const subject = `An operator created a reset link for ${one.email}`;
    expect(await subjects(owner.email)).toEqual([subject]);
    expect(await subjects(one.email)).toEqual([subject]);
    expect(await subjects(other.email)).toEqual([]);
  });

  test("a role that changes, together with the user whose it is", async () => {
    const owner = await aPlatform(plain);
    const user = await aColleague(owner.session, "member");
    const change = async (role: string) => {
      const call = { session: await freshSession(plain, owner), body: { role } };
      dataOf(await mailed.relay.call("PATCH", `/v1/users/${user.id}`, call));
    };
    await change("owner");
    const [promoted] = await mailed.mailsTo(owner.email);
    expect(promoted?.subject).toMatch(`${user.email} is now owner on `);
    expect(await subjects(user.email)).toEqual([promoted?.subject]);
    await change("owner");
    expect(await subjects(user.email)).toHaveLength(1);
    await change("member");
    expect((await subjects(owner.email)).at(-1)).toContain("is now member on");
    expect(await subjects(user.email)).toHaveLength(2);
  });

  test("an owner who is made, or removed", async () => {
    const owner = await aPlatform(plain);
    const email = `owner-${(count += 1)}@example.com`;
    const body = { email, password: PASSWORD, role: "owner" };
    const session = await freshSession(plain, owner);
    const made = await mailed.relay.call("POST", "/v1/users", { session, body });
    expect(made.status).toBe(201);
    expect((await subjects(owner.email)).at(-1)).toContain(`${email} is now owner`);
    const other = await aColleague(session, "owner");
    const removed = await mailed.relay.call("DELETE", `/v1/users/${other.id}`, { session });
    expect(removed.status).toBe(204);
    for (const address of [owner.email, other.email])
      expect((await subjects(address)).at(-1)).toContain(`${other.email} is no longer an owner`);
  });

  test("an owner who accepts an invitation, whose login from the same network is none of an unknown one", async () => {
    const owner = await aPlatform(plain);
    const session = await freshSession(plain, owner);
    const email = `invited-${(count += 1)}@example.com`;
    dataOf(await post("/v1/invitations", { email, role: "owner" }, session));
    const token = tokenIn((await mailed.mailsTo(email)).at(-1));
    const password = "violet marmot 7 teacups";
    const headers = { "x-forwarded-for": "203.0.113.7" };
    const path = "/v1/auth/invitations/accept";
    dataOf(await mailed.relay.call("POST", path, { headers, body: { token, password } }));
    expect(await subjects(owner.email)).toMatchObject([
      expect.stringMatching(`^${email} is now owner on `),
    ]);
    const body = { email, password };
    dataOf(await mailed.relay.call("POST", "/v1/auth/login", { headers, body }));
    expect(await subjects(email)).toHaveLength(1);
  });

  test("a key with all rights, also the default key of an application, and of no other key", async () => {
    const owner = await aPlatform(plain);
    const session = await freshSession(plain, owner);
    const application = await anApplication(mailed.relay, { ...owner, session });
    const [first] = await mailed.mailsTo(owner.email);
    expect(first?.text).toContain(`(${application.keyId}) can do everything`);
    expect(first?.text).toContain(`the application “Planner” (${application.id})`);
    await aKey(mailed.relay, application, { scope: "restricted" });
    expect(await subjects(owner.email)).toHaveLength(1);
    const key = await aKey(mailed.relay, application, { scope: "app_admin", name: "Deploy" });
    const [, second] = await mailed.mailsTo(owner.email);
    expect(second?.text).toContain(`The key “Deploy” (${key.id}) can`);
  });

  test("a key, with a name that neither leads somewhere nor breaks a line", async () => {
    const owner = await aPlatform(plain);
    const session = await freshSession(plain, owner);
    const application = await anApplication(mailed.relay, { ...owner, session });
    const names = [
      ["Look at https://example.com", "“Look at https: / /example. com”"],
      ["mail me@example.com", "“mail me@ example. com”"],
      ["www.example", "“www. example”"],
      ["a\u2028b\u202ec", "“a bc”"],
      ["x".repeat(80), `“${"x".repeat(59)}…”`],
    ];
    for (const [name = "", shown = ""] of names) {
      const { id } = await aKey(mailed.relay, application, { scope: "app_admin", name });
      const mail = (await mailed.mailsTo(owner.email)).at(-1);
      expect(mail?.text).toContain(`The key ${shown} (${id}) can`);
    }
  });

  test("all of it, however much it is", async () => {
    const owner = await aPlatform(plain);
    const session = await freshSession(plain, owner);
    const application = await anApplication(mailed.relay, { ...owner, session });
    for (let nth = 0; nth < 12; nth += 1)
      await aKey(mailed.relay, application, { scope: "app_admin" });
    expect(await subjects(owner.email)).toHaveLength(13);
    const mails = await mailed.mailsTo(owner.email);
    for (const { headers } of mails)
      expect(headers.some((line) => line.startsWith("List-Unsubscribe"))).toBe(false);
    expect(() => tokenIn(mails[0])).toThrow();
  });

  test("at most five hundred mails an hour, by refusing what would cause more", async () => {
    const owner = await aPlatform(plain);
    const session = await freshSession(plain, owner);
    const application = await anApplication(mailed.relay, { ...owner, session });
    const body = { scope: "app_admin", applicationId: application.id };
    const create = () => post("/v1/keys", body, session);
    const outcomes = new Map<number, number>();
    let refused: Awaited<ReturnType<typeof create>> | undefined;
    for (let key = 0; key < 260; key += 1) {
      const made = await create();
      outcomes.set(made.status, (outcomes.get(made.status) ?? 0) + 1);
      if (made.status === 429) refused = made;
    }
    // Each counts for the owner and for a user whom a change may be about. The default key was the first.
    expect(outcomes.get(201)).toBe(249);
    expect(refused?.body.error.code).toBe("rate_limited");
    const colleague = await aColleague(session, "member");
    const role = (to: string) =>
      mailed.relay.call("PATCH", `/v1/users/${colleague.id}`, { session, body: { role: to } });
    expect((await role("owner")).status).toBe(429);
    // Revoking and removing are never refused.
    const removed = await mailed.relay.call("DELETE", `/v1/users/${colleague.id}`, { session });
    expect(removed.status).toBe(204);
    const restricted = { ...body, scope: "restricted" };
    expect((await post("/v1/keys", restricted, session)).status).toBe(201);
    mailed.relay.advance(60 * 60_000);
    const later = await freshSession(plain, owner);
    expect((await post("/v1/keys", body, later)).status).toBe(201);
  });
});
