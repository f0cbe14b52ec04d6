import { expect, test } from "vitest";
import { startedTotp } from "../setup/authenticator.ts";
import { dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import { casesOf, DEATHS_APART, IS_LONG } from "../setup/long-check.ts";
import type { Relay } from "../setup/relay.ts";
import { dying, repeatsOf, startWorld, type Dying, type World } from "./dying.ts";
import {
  acceptWith,
  askForReset,
  invited,
  inviteBy,
  lastToken,
  logIn,
  NEW_PASSWORD,
  newEmail,
  operatorLink,
  post,
  resetWith,
  signUpAs,
  tokenOf,
  unverified,
  verified,
} from "./people.ts";
import { forFile } from "../setup/for-file.ts";

const CREDIT = 25;

const world = forFile(() => startWorld({ SIGNUP_CREDIT_TOKENS: String(CREDIT) }));

const isIn = async (on: Relay, email: string, password = PASSWORD) =>
  (await logIn(on, email, password)).status === 200;

const isVerified = async (on: Relay, email: string) =>
  dataOf(await logIn(on, email)).user.emailVerified as boolean;

async function expectCredit(on: Relay, email: string, password = PASSWORD): Promise<void> {
  const { token: session } = dataOf(await logIn(on, email, password));
  const { tokenBalance } = dataOf(await on.call("GET", "/v1/me", { session }));
  expect(tokenBalance).toBe(CREDIT);
}

const mailsTo = async ({ mailed }: World, email: string, subject: RegExp) =>
  (await mailed.mailsTo(email)).filter((mail) => subject.test(mail.subject));

const VERIFY = /^Confirm your email address/;
const RESET = /^Choose a new password/;
const NEW_ADDRESS = /^Confirm your new email address/;
const INVITED = / invited you to /;
const CHANGED = /^Your .* password was changed$/;

/** Everything that writes on the way in, with what its user is owed when it is over. */
const FLOWS: Readonly<Record<string, Dying>> = {
  "a sign-up": dying({
    prepare: async () => newEmail(),
    ask: (email, on) => signUpAs(on, email),
    isDone: (email, { mailed }) => isIn(mailed.relay, email),
    mails: (to) => [{ to, subject: VERIFY, eachTime: true }],
    async end(email, { mailed }) {
      const body = { token: await lastToken(mailed, email), password: PASSWORD };
      expect((await post(mailed.relay, "/v1/auth/verify", body)).status).toBe(204);
      await expectCredit(mailed.relay, email);
    },
  }),
  "a verification": dying({
    async prepare({ mailed }) {
      const { email } = await unverified(mailed);
      return { email, token: await lastToken(mailed, email) };
    },
    ask: ({ token }, on) => post(on, "/v1/auth/verify", { token, password: PASSWORD }),
    isDone: ({ email }, { mailed }) => isVerified(mailed.relay, email),
    end: ({ email }, { mailed }) => expectCredit(mailed.relay, email),
  }),
  "another link of a verification": dying({
    async prepare({ mailed }) {
      const person = await unverified(mailed);
      await mailed.relay.drain();
      return person;
    },
    ask: ({ session }, on) => post(on, "/v1/auth/verify/resend", {}, session),
    isDone: async ({ email }, made) => (await mailsTo(made, email, VERIFY)).length > 1,
    async end({ email, session }, { mailed }) {
      const token = await lastToken(mailed, email);
      expect((await post(mailed.relay, "/v1/auth/verify", { token }, session)).status).toBe(204);
    },
  }),
  "a request for a reset": dying({
    prepare: ({ mailed }) => verified(mailed),
    ask: (person, on) => askForReset(on, person),
    isDone: async ({ email }, made) => (await mailsTo(made, email, RESET)).length > 0,
    mails: ({ email: to }) => [{ to, subject: RESET, eachTime: true }],
    async end({ email }, { mailed }) {
      expect((await resetWith(mailed.relay, await lastToken(mailed, email))).status).toBe(200);
    },
  }),
  "a reset": dying({
    async prepare({ mailed }) {
      const person = await verified(mailed);
      await askForReset(mailed.relay, person);
      return { ...person, token: await lastToken(mailed, person.email) };
    },
    ask: ({ token }, on) => resetWith(on, token),
    isDone: ({ email }, { mailed }) => isIn(mailed.relay, email, NEW_PASSWORD),
    mails: ({ email: to }) => [{ to, subject: CHANGED }],
    async end({ email, session }, { mailed: { relay } }) {
      expect(await isIn(relay, email)).toBe(false);
      expect((await relay.call("GET", "/v1/me", { session })).status).toBe(401);
      await expectCredit(relay, email, NEW_PASSWORD);
    },
  }),
  "a change of the password": dying({
    prepare: ({ mailed }) => verified(mailed),
    ask: ({ session }, on) =>
      post(
        on,
        "/v1/auth/password",
        { currentPassword: PASSWORD, newPassword: NEW_PASSWORD },
        session,
      ),
    isDone: ({ email }, { mailed }) => isIn(mailed.relay, email, NEW_PASSWORD),
    mails: ({ email: to }) => [{ to, subject: CHANGED }],
  }),
  "a request for another email": dying({
    async prepare({ mailed }) {
      return { ...(await verified(mailed)), to: newEmail() };
    },
    ask: ({ session, to }, on) =>
      post(on, "/v1/auth/email", { newEmail: to, password: PASSWORD }, session),
    isDone: async ({ to }, made) => (await mailsTo(made, to, NEW_ADDRESS)).length > 0,
    mails: ({ email, to }) => [
      { to: email, subject: /is about to change$/, eachTime: true },
      { to, subject: NEW_ADDRESS, eachTime: true },
    ],
    async end({ to }, { mailed }) {
      const body = { token: await lastToken(mailed, to), password: PASSWORD };
      expect((await post(mailed.relay, "/v1/auth/verify", body)).status).toBe(204);
    },
  }),
  "a change of the email": dying({
    async prepare({ mailed }) {
      const { email, session } = await verified(mailed);
      const to = newEmail();
      await post(mailed.relay, "/v1/auth/email", { newEmail: to, password: PASSWORD }, session);
      return { email, to, token: await lastToken(mailed, to) };
    },
    ask: ({ token }, on) => post(on, "/v1/auth/verify", { token, password: PASSWORD }),
    isDone: ({ to }, { mailed }) => isIn(mailed.relay, to),
    mails: ({ email }) => [{ to: email, subject: /email address .* was changed$/ }],
    async end({ email }, { mailed: { relay } }) {
      expect(await isIn(relay, email)).toBe(false);
      // By now a claim that the dead process left is old enough for the next one.
      relay.advance(11 * 60_000);
      expect((await signUpAs(relay, email)).status).toBe(201);
    },
  }),
  "an operator's reset link": dying({
    prepare: ({ mailed }) => verified(mailed),
    ask: (person, on) => operatorLink(on, person),
    isDone: async ({ email }, made) => (await mailsTo(made, email, /^An operator/)).length > 0,
    mails: ({ email: to }) => [{ to, subject: /^An operator/, eachTime: true }],
    async end(person, { mailed: { relay } }) {
      const { url } = dataOf(await operatorLink(relay, person));
      expect((await resetWith(relay, tokenOf(url))).status).toBe(200);
    },
  }),
  "the use of an invitation": dying({
    prepare: ({ mailed }) => invited(mailed),
    ask: ({ token }, on) => acceptWith(on, token),
    isDone: ({ email }, { mailed }) => isIn(mailed.relay, email),
    async end({ owner: { session } }, { mailed: { relay } }) {
      expect(dataOf(await relay.call("GET", "/v1/users", { session }))).toHaveLength(2);
      expect(dataOf(await relay.call("GET", "/v1/invitations", { session }))).toEqual([]);
    },
  }),
  "a removal by an operator": dying({
    async prepare({ mailed }) {
      const { owner, email, token } = await invited(mailed);
      const { user } = dataOf(await acceptWith(mailed.relay, token));
      return { email, path: `/v1/admin/platforms/${owner.platformId}/users/${user.id}` };
    },
    ask: ({ path }, on) => on.call("DELETE", path, { operator: ["Admin"] }),
    isDone: async ({ email }, { mailed }) => !(await isIn(mailed.relay, email)),
    async end({ email }, { mailed: { relay } }) {
      // By now a claim that the dead process left is old enough for the next one.
      relay.advance(11 * 60_000);
      expect((await signUpAs(relay, email)).status).toBe(201);
    },
  }),
  "an invitation": dying({
    async prepare({ mailed }) {
      return { owner: await verified(mailed), email: newEmail() };
    },
    ask: ({ owner, email }, on) => inviteBy(owner, on, email),
    async isDone({ owner: { session } }, { mailed: { relay } }) {
      const open = dataOf(await relay.call("GET", "/v1/invitations", { session }));
      expect(open.length).toBeLessThan(2);
      return open.length === 1;
    },
    mails: ({ email: to }) => [{ to, subject: INVITED, eachTime: true }],
    async end({ email }, { mailed }) {
      const { status } = await acceptWith(mailed.relay, await lastToken(mailed, email));
      expect(status).toBe(201);
    },
  }),
  "another link of an invitation": dying({
    prepare: ({ mailed }) => invited(mailed),
    ask: ({ owner, email }, on) => inviteBy(owner, on, email),
    // Either link works, and never both.
    isDone: async ({ email }, made) => (await mailsTo(made, email, INVITED)).length > 1,
    async end({ email, token }, { mailed }) {
      expect((await acceptWith(mailed.relay, token)).status).toBe(400);
      const { status } = await acceptWith(mailed.relay, await lastToken(mailed, email));
      expect(status).toBe(201);
    },
  }),
  "another role": dying({
    async prepare({ mailed }) {
      const { owner, token } = await invited(mailed);
      const { user } = dataOf(await acceptWith(mailed.relay, token));
      return { owner, user: user as { readonly id: string; readonly email: string } };
    },
    ask: ({ owner: { session }, user }, on) =>
      on.call("PATCH", `/v1/users/${user.id}`, { session, body: { role: "owner" } }),
    async isDone({ owner: { session }, user }, { mailed: { relay } }) {
      const users = dataOf(await relay.call("GET", "/v1/users", { session }));
      return users.some(
        ({ id, role }: typeof user & { role: string }) => id === user.id && role === "owner",
      );
    },
    mails: ({ owner, user }) => [
      { to: owner.email, subject: / is now / },
      { to: user.email, subject: / is now / },
    ],
  }),
  "a key that may do everything": dying({
    async prepare({ mailed }) {
      const person = await verified(mailed);
      const body = { name: "App", createDefaultKey: false };
      const { id } = dataOf(await post(mailed.relay, "/v1/applications", body, person.session));
      return { ...person, headers: { "x-application-id": String(id) } };
    },
    ask: ({ session, headers }, on) => on.call("POST", "/v1/keys", { session, headers, body: {} }),
    async isDone({ session }, { mailed: { relay } }) {
      return dataOf(await relay.call("GET", "/v1/keys", { session })).length > 0;
    },
    mails: ({ email: to }) => [{ to, subject: /^A new app_admin key/, eachTime: true }],
  }),
  "a second factor that is switched on": dying({
    async prepare({ mailed }) {
      const person = await verified(mailed);
      return { ...person, ...(await startedTotp(mailed.relay, person.session)) };
    },
    ask: ({ session, code }, on) => post(on, "/v1/auth/totp/confirm", { code: code() }, session),
    async isDone({ session }, { mailed: { relay } }) {
      return dataOf(await relay.call("GET", "/v1/me", { session })).user.totpEnabled as boolean;
    },
    mails: ({ email: to }) => [{ to, subject: /^Two-factor authentication is on/ }],
  }),
  "a closing of the platform": dying({
    prepare: ({ mailed }) => verified(mailed),
    ask: ({ session }, on) => post(on, "/v1/platform/close", { name: "Example" }, session),
    isDone: async ({ email }, { mailed: { relay } }) =>
      outcomeOf(await logIn(relay, email)) === "403 platform_closed",
    mails: ({ email: to }) => [{ to, subject: /^Your platform .* was closed$/ }],
  }),
  "a reset that is the first proof of the mailbox": dying({
    async prepare({ mailed }) {
      const person = await unverified(mailed);
      await askForReset(mailed.relay, person);
      return { ...person, token: await lastToken(mailed, person.email) };
    },
    ask: ({ token }, on) => resetWith(on, token),
    isDone: ({ email }, { mailed }) => isIn(mailed.relay, email, NEW_PASSWORD),
    end: ({ email }, { mailed }) => expectCredit(mailed.relay, email, NEW_PASSWORD),
  }),
};

/** More than any of these writes. */
const WRITES_MAX = 60;
const MOMENTS = casesOf(["before", "after"] as const);

let deaths = 0;

test.each(Object.entries(FLOWS).map(([name, die], index) => [name, die, index] as const))(
  "%s is neither lost nor told twice, whichever write its process dies at",
  async (_name, die, index) => {
    for (const moment of MOMENTS) {
      let nth = 1 + (index % DEATHS_APART);
      while ((await die(world, { nth, moment })) === "died") {
        deaths += 1;
        nth += DEATHS_APART;
        expect(nth).toBeLessThan(WRITES_MAX);
      }
      // The last run is one without a death.
      expect(nth).toBeGreaterThan(DEATHS_APART);
    }
  },
);

test("a mail that may have arrived came again after a minute at the earliest", () => {
  const repeats = repeatsOf(world.arrivals);
  const figures = `${deaths} deaths, ${world.arrivals.length} mails, ${repeats} of them again`;
  if (IS_LONG) process.stdout.write(`${figures}\n`);
  expect(deaths).toBeGreaterThan(Object.keys(FLOWS).length);
  if (IS_LONG) expect(repeats).toBeGreaterThan(0);
});
