import { HEAD_KEY } from "../../src/shared/partition/head-row.ts";
import { describe, expect, test } from "vitest";
import { dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { storedRows } from "../setup/stored-rows.ts";
import {
  askForReset,
  lastMail,
  lastToken,
  logIn,
  NEW_PASSWORD,
  newEmail,
  post,
  resetWith,
  signUpAs,
  unverified,
  verified,
} from "./people.ts";
import { useTwoMailedProcesses } from "../setup/use-relay.ts";

const { mailed, second } = useTwoMailedProcesses();

const HOUR_MS = 3_600_000;
const PASSWORDS = ["violet marmot 7 teacups", "copper lantern 4 walnuts"] as const;

describe("a stranger who guesses passwords and asks for resets all day, from 50 addresses", () => {
  // Six hours with fifty guesses each for every change, and ten thousand a day in the long check.
  const [HOURS, GUESSES] = IS_LONG ? [24, 420] : [6, 50];
  const RESETS = 8;
  const addressOf = (index: number) => `198.51.${index % 50}.1`;
  const OWN = "203.0.113.9";

  test("keeps the owner out of no new device: a reset link gets them in, every hour", async () => {
    const { relay } = mailed;
    const { email } = await verified(mailed);
    let guesses = 0;
    let password: string = PASSWORD;
    const mails = (await mailed.mailsTo(email)).length;
    for (let hour = 0; hour < HOURS; hour += 1) {
      for (let index = 0; index < RESETS; index += 1)
        await post(second, "/v1/auth/reset", { email }, { address: addressOf(index) });
      for (let index = 0; index < GUESSES; index += 1) {
        const body = { email, password: `guess ${guesses}` };
        const { status } = await post(second, "/v1/auth/login", body, {
          address: addressOf(index),
        });
        expect([401, 429]).toContain(status);
        guesses += 1;
      }
      // A device that nobody knows, and a stranger who has used up all mails of the hour.
      const from = (path: string, body: object) => post(relay, path, body, { address: OWN });
      expect((await from("/v1/auth/reset", { email })).status).toBe(202);
      const token = await lastToken(mailed, email);
      password = PASSWORDS[hour % 2] ?? "";
      const set = await from("/v1/auth/reset/confirm", { token, newPassword: password });
      expect(outcomeOf(set)).toBe("200");
      const { deviceToken } = dataOf(set);
      const signedIn = await from("/v1/auth/login", { email, password, deviceToken });
      expect(outcomeOf(signedIn)).toBe("200");
      relay.advance(HOUR_MS);
    }
    expect(guesses).toBe(HOURS * GUESSES);
    // Three links an hour from all who ask, and a notice of each change.
    expect((await mailed.mailsTo(email)).length - mails).toBeLessThanOrEqual(HOURS * 4 + 4);
  });

  test("leaves a known device three links an hour of its own", async () => {
    const { email, deviceToken } = await verified(mailed);
    for (let index = 0; index < RESETS; index += 1)
      await post(second, "/v1/auth/reset", { email }, { address: addressOf(index) });
    const before = (await mailed.mailsTo(email)).length;
    for (let index = 0; index < 4; index += 1)
      await post(mailed.relay, "/v1/auth/reset", { email, deviceToken }, { address: OWN });
    expect((await mailed.mailsTo(email)).length - before).toBe(3);
    expect(outcomeOf(await resetWith(second, await lastToken(mailed, email)))).toBe("200");
  });

  test("gains no mails by a device of his own, or by other spellings of the address", async () => {
    const [{ email }, stranger] = [await verified(mailed), await verified(mailed)];
    const before = (await mailed.mailsTo(email)).length;
    const spellings = [email, email.toUpperCase(), ` ${email} `, `${email}\t`];
    for (let index = 0; index < 12; index += 1)
      await post(second, "/v1/auth/reset", {
        email: spellings[index % spellings.length],
        ...(index % 2 === 0 ? { deviceToken: stranger.deviceToken } : {}),
      });
    expect((await mailed.mailsTo(email)).length - before).toBe(3);
  });
});

/** Where there are rows of a platform. */
async function leftOf(platformId: string): Promise<readonly string[]> {
  const rows = await storedRows(mailed.relay);
  return rows
    .filter(({ text }) => text.includes(platformId))
    .map(({ table, rowKey }) => `${table} ${rowKey.split("|", 1)[0]}`);
}

const refusedGuess = "401 invalid_credentials";

describe("a stranger who wants somebody's address", () => {
  const refused = "401 invalid_credentials";

  test.each([false, true])(
    "signs up with it: the owner's click gives him nothing, and the owner signs up all the same (with a head: %s)",
    async (hasHead) => {
      const { relay } = mailed;
      const stranger = await unverified(mailed);
      const { email } = stranger;
      const token = await lastToken(mailed, email);
      // The owner of the mailbox, who opens the link and types a password of their own.
      expect(outcomeOf(await post(relay, "/v1/auth/verify", { token }))).toBe(refused);
      const typed = { token, password: NEW_PASSWORD };
      expect(outcomeOf(await post(relay, "/v1/auth/verify", typed))).toBe(refused);
      const session = await verified(mailed);
      expect(outcomeOf(await post(relay, "/v1/auth/verify", { token }, session.session))).toBe(
        refused,
      );
      // Both processes know him.
      for (const on of [relay, second])
        expect(outcomeOf(await on.call("GET", "/v1/me", { session: stranger.session }))).toBe(
          "200",
        );
      // With a head of the partition, which this makes, and without one.
      if (hasHead)
        await relay.call("POST", "/v1/posts", {
          session: stranger.session,
          body: {},
          headers: { "x-profile-id": `prf_${"0".repeat(26)}` },
        });
      expect(await leftOf(stranger.platformId)).toEqual(
        hasHead
          ? expect.arrayContaining([`core ${HEAD_KEY}`])
          : expect.not.arrayContaining([`core ${HEAD_KEY}`]),
      );
      for (const path of ["/v1/me", "/v1/users", "/v1/applications"])
        await second.call("GET", path, { session: stranger.session });
      // He can leave nothing behind meanwhile.
      for (const [path, body] of [
        ["/v1/applications", { name: "His" }],
        ["/v1/users", { email: newEmail(), password: PASSWORD }],
        ["/v1/auth/totp", {}],
        ["/v1/auth/email", { newEmail: newEmail(), password: PASSWORD }],
      ] as const)
        expect(outcomeOf(await post(relay, path, body, stranger.session))).toBe(
          "403 email_unverified",
        );
      expect(outcomeOf(await signUpAs(relay, email, NEW_PASSWORD))).toBe("201");
      const body = { token: await lastToken(mailed, email), password: NEW_PASSWORD };
      expect(outcomeOf(await post(relay, "/v1/auth/verify", body))).toBe("204");
      expect(outcomeOf(await logIn(second, email))).toBe(refused);
      for (const path of ["/v1/me", "/v1/users", "/v1/applications"])
        expect(outcomeOf(await second.call("GET", path, { session: stranger.session }))).toBe(
          "401 session_expired",
        );
      expect(outcomeOf(await post(second, "/v1/auth/verify", { token, password: PASSWORD }))).toBe(
        "400 invalid_link",
      );
      // His link, which ends by itself, and where there was no head the version by which each process knows that he is gone.
      const left = await leftOf(stranger.platformId);
      expect(left.filter((row) => row !== "links L" && !row.startsWith("wake "))).toEqual(
        hasHead ? [] : [`core ${HEAD_KEY}`],
      );
    },
  );

  test("signs up with it: a reset gives the account to the mailbox, and he is out", async () => {
    const { relay } = mailed;
    const stranger = await unverified(mailed);
    const { email, session, deviceToken } = stranger;
    const his = await lastToken(mailed, email);
    // Either of them may have asked.
    await askForReset(relay, stranger);
    expect(outcomeOf(await resetWith(relay, await lastToken(mailed, email)))).toBe("200");
    const login = { email, password: PASSWORD, deviceToken };
    expect(outcomeOf(await post(second, "/v1/auth/login", login))).toBe(refused);
    const old = await second.call("GET", "/v1/me", { session });
    expect(outcomeOf(old)).toBe("401 session_expired");
    const late = await post(second, "/v1/auth/verify", { token: his, password: PASSWORD });
    expect(outcomeOf(late)).toBe("400 invalid_link");
    const own = dataOf(await logIn(second, email, NEW_PASSWORD));
    expect(own.user).toMatchObject({ emailVerified: true, role: "owner", totpEnabled: false });
    const users = await second.call("GET", "/v1/users", { session: own.token });
    expect(users.body.data).toHaveLength(1);
  });

  test("asks to change his own address to it: the owner's click gives him nothing", async () => {
    const { relay } = mailed;
    const stranger = await verified(mailed);
    const email = newEmail();
    const change = { newEmail: email, password: PASSWORD };
    expect(outcomeOf(await post(relay, "/v1/auth/email", change, stranger.session))).toBe("202");
    const token = await lastToken(mailed, email);
    // The link claims nothing, before and after the owner has an account.
    for (const isOwner of [false, true]) {
      if (isOwner) await verified(mailed, email);
      for (const body of [{ token }, { token, password: NEW_PASSWORD }])
        expect(outcomeOf(await post(relay, "/v1/auth/verify", body))).toBe(refused);
    }
    // He knows the password, and not the link. With both he gets nothing either.
    const both = await post(relay, "/v1/auth/verify", { token, password: PASSWORD });
    expect(outcomeOf(both)).toBe("409 conflict");
    expect((await lastMail(mailed, stranger.email))?.subject).toContain("about to change");
  });

  test("waits for a mistyped change: its link is no use without the password, and ends with the next", async () => {
    const { relay } = mailed;
    const { email, session } = await verified(mailed);
    const [mistyped, meant] = [newEmail(), newEmail()];
    const ask = (to: string) =>
      post(relay, "/v1/auth/email", { newEmail: to, password: PASSWORD }, session);
    await ask(mistyped);
    const token = await lastToken(mailed, mistyped);
    // The stranger who has the mistyped mailbox.
    const guessing = (body: object) =>
      post(second, "/v1/auth/verify", body, { address: "198.51.100.1" });
    const guesses = [];
    for (let guess = 0; guess < 6; guess += 1)
      guesses.push(outcomeOf(await guessing({ token, password: `guess ${guess}` })));
    expect(guesses).toEqual([...Array<string>(5).fill(refused), "429 rate_limited"]);
    await askForReset(second, { email: mistyped });
    expect((await lastMail(mailed, mistyped))?.subject).toContain("new email address");
    // He signs up with what is his, and has an account of his own.
    await verified(mailed, mistyped);
    expect(outcomeOf(await ask(meant))).toBe("202");
    const late = await post(relay, "/v1/auth/verify", { token }, session);
    expect(outcomeOf(late)).toBe("400 invalid_link");
    const right = { token: await lastToken(mailed, meant) };
    expect(outcomeOf(await post(relay, "/v1/auth/verify", right, session))).toBe("204");
    expect((await lastMail(mailed, email))?.subject).toContain("was changed");
  });

  test("asks for a reset: what the owner does with the link is the owner's", async () => {
    const { relay } = mailed;
    const owner = await verified(mailed);
    await post(second, "/v1/auth/reset", { email: owner.email });
    const token = await lastToken(mailed, owner.email);
    const set = await resetWith(relay, token);
    expect(dataOf(set)).toEqual({ deviceToken: expect.stringMatching(/^ey/) });
    expect(outcomeOf(await logIn(relay, owner.email, NEW_PASSWORD))).toBe("200");
    // It opens no session, so that a reader of the answer still needs the password.
    expect(JSON.stringify(set.body)).not.toContain("expiresIn");
  });
});

describe("a thief who has a session and not the password", () => {
  const STALE_MS = 10 * 60_000 + 1_000;

  /** Everything that would keep him in, or the owner out. */
  const ways = (session: string, userId: string) => {
    const call = (method: string, path: string, body?: object) =>
      mailed.relay.call(method, path, { session, ...(body === undefined ? {} : { body }) });
    const wrong = "not the right password";
    return {
      "a second factor of his own": () => call("POST", "/v1/auth/totp"),
      "an email of his own": () =>
        call("POST", "/v1/auth/email", { newEmail: newEmail(), password: wrong }),
      "a password of his own": () =>
        call("POST", "/v1/auth/password", { currentPassword: wrong, newPassword: NEW_PASSWORD }),
      "a user of his own": () =>
        call("POST", "/v1/users", { email: newEmail(), password: PASSWORD, role: "owner" }),
      "another role": () => call("PATCH", `/v1/users/${userId}`, { role: "member" }),
      "the end of the owner": () => call("DELETE", `/v1/users/${userId}`),
      "a key": () => call("POST", "/v1/keys", { scope: "app_admin" }),
      "an application with a key": () => call("POST", "/v1/applications", { name: "His" }),
    };
  };

  test("gets none of what would keep him in, nor by guessing", async () => {
    const { relay } = mailed;
    const { email, id, session } = await verified(mailed);
    relay.advance(STALE_MS);
    const before = (await mailed.mailsTo(email)).length;
    for (const [what, way] of Object.entries(ways(session, id))) {
      const outcome = outcomeOf(await way());
      const asksPassword = /password|email/.test(what);
      expect(outcome, what).toBe(asksPassword ? refusedGuess : "403 confirmation_required");
    }
    // Guesses on all routes count together: two were made.
    const guesses: string[] = [];
    for (let guess = 0; guess < 5; guess += 1)
      guesses.push(
        outcomeOf(await post(relay, "/v1/auth/confirm", { password: `guess ${guess}` }, session)),
      );
    expect(guesses).toEqual([
      ...Array<string>(3).fill(refusedGuess),
      ...Array<string>(2).fill("429 rate_limited"),
    ]);
    expect(await mailed.mailsTo(email)).toHaveLength(before);
    const [user, ...others] = (await relay.call("GET", "/v1/users", { session })).body.data;
    expect(user).toMatchObject({ email, role: "owner", totpEnabled: false });
    expect(others).toEqual([]);
    // A reset ends what he has.
    await askForReset(relay, { email });
    expect(outcomeOf(await resetWith(relay, await lastToken(mailed, email)))).toBe("200");
    expect(outcomeOf(await second.call("GET", "/v1/me", { session }))).toBe("401 session_expired");
  });
});
