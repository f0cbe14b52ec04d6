import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { enabledTotp } from "../setup/authenticator.ts";
import { anApplication, aPlatform, dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { userOf } from "../setup/stored.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay, instance } = useTwoProcesses();

const MINUTE = 60_000;

const confirm = (session: string, body: object = {}, on: Relay = relay) =>
  on.call("POST", "/v1/auth/confirm", { session, body: { password: PASSWORD, ...body } });

/** A platform whose session is older than a confirmation lasts, as a thief finds it. */
async function aStolenSession() {
  const platform = await aPlatform(relay);
  const application = await anApplication(relay, platform);
  relay.advance(10 * MINUTE + 1_000);
  return { ...platform, application };
}

describe("a stolen session", () => {
  test("a stolen session can't take the platform over: each way asks for the password", async () => {
    const { session, userId, application, email } = await aStolenSession();
    const headers = { "x-application-id": application.id };
    const colleague = { email: `thief-${userId}@example.com`, password: PASSWORD, role: "owner" };
    const webhook = await relay.call("POST", "/v1/webhooks", {
      session,
      headers,
      body: { url: "https://hooks.example.com/relay" },
    });
    const tries = [
      await relay.call("POST", "/v1/auth/totp", { session }),
      await relay.call("POST", "/v1/users", { session, body: colleague }),
      await relay.call("PATCH", `/v1/users/${userId}`, { session, body: { role: "member" } }),
      await relay.call("DELETE", `/v1/users/${userId}`, { session }),
      await relay.call("POST", "/v1/keys", { session, headers, body: {} }),
      await relay.call("POST", "/v1/keys", { session, headers, body: { scope: "restricted" } }),
      await relay.call("POST", "/v1/applications", { session, body: { name: "Theirs" } }),
      await relay.call("POST", `/v1/webhooks/${dataOf(webhook).id}/rotate-secret`, { session }),
    ];
    expect(tries.map(outcomeOf)).toEqual(tries.map(() => "403 confirmation_required"));
    expect(tries[0]?.body.error.details).toEqual({ maxAgeSeconds: 600 });
    expect((await relay.call("GET", "/v1/users", { session })).body.data).toMatchObject([
      { email, role: "owner", totpEnabled: false },
    ]);
    const body = { name: "Without a key", createDefaultKey: false };
    expect(outcomeOf(await relay.call("POST", "/v1/applications", { session, body }))).toBe("201");
  });

  test("a stolen session can't guess the password to confirm: failures count as those of logins, and lock the owner's device out of nothing", async () => {
    const { session, email } = await aStolenSession();
    const device = dataOf(
      await relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } }),
    ).deviceToken;
    const outcomes: string[] = [];
    for (let guess = 0; guess < 6; guess += 1)
      outcomes.push(outcomeOf(await confirm(session, { password: `guess ${guess}` })));
    const wrong = "401 invalid_credentials";
    expect(outcomes).toEqual([wrong, wrong, wrong, wrong, wrong, "429 rate_limited"]);
    expect(outcomeOf(await confirm(session))).toBe("429 rate_limited");
    expect(outcomeOf(await confirm(session, { deviceToken: device }))).toBe("200");
  });

  test("gains nothing by a confirmation of the owner's: the old token continues without it", async () => {
    const { session } = await aStolenSession();
    const { token } = dataOf(await confirm(session));
    expect(outcomeOf(await relay.call("POST", "/v1/auth/totp", { session }))).toBe(
      "403 confirmation_required",
    );
    expect(outcomeOf(await relay.call("GET", "/v1/me", { session }))).toBe("200");
    expect(outcomeOf(await relay.call("POST", "/v1/auth/totp", { session: token }))).toBe("201");
  });

  test("a stolen session can't lengthen itself: a confirmed token ends when the session would have", async () => {
    const { session } = await aStolenSession();
    const confirmed = dataOf(await confirm(session));
    const [before, after] = [decodeJwt(session), decodeJwt(confirmed.token)];
    expect([after.exp, after.jti]).toEqual([before.exp, before.jti]);
    expect(Date.parse(confirmed.expiresAt)).toBe((before.exp ?? 0) * 1000);
    relay.advance(confirmed.expiresIn * 1000 + 10_000);
    expect(outcomeOf(await relay.call("GET", "/v1/me", { session: confirmed.token }))).toBe(
      "401 session_expired",
    );
  });
});

describe("a confirmation", () => {
  test("lasts for ten minutes, on every instance, and a login counts as one", async () => {
    const { session } = await aStolenSession();
    const { token, confirmedUntil } = dataOf(await confirm(session));
    const left = Date.parse(confirmedUntil) - relay.clock.now().getTime();
    expect(left).toBeGreaterThan(9.9 * MINUTE);
    expect(left).toBeLessThanOrEqual(10 * MINUTE);
    const { auth } = dataOf(await instance.call("GET", "/v1/me", { session: token }));
    expect(auth).toMatchObject({ role: "owner", confirmedUntil });
    const start = () => instance.call("POST", "/v1/auth/totp", { session: token });
    relay.advance(9 * MINUTE);
    expect(outcomeOf(await start())).toBe("201");
    relay.advance(MINUTE);
    expect(outcomeOf(await start())).toBe("403 confirmation_required");
  });

  test("needs the code where TOTP is on, and uses it up", async () => {
    const { session } = await aPlatform(relay);
    const app = await enabledTotp(relay, session);
    relay.advance(11 * MINUTE);
    expect(outcomeOf(await confirm(session))).toBe("401 totp_required");
    const totpCode = app.code();
    const both = await Promise.all([
      confirm(session, { totpCode }),
      confirm(session, { totpCode }, instance),
    ]);
    expect(both.map(outcomeOf).toSorted()).toEqual(["200", "401 invalid_credentials"]);
    expect(outcomeOf(await confirm(session, { totpCode: app.recoveryCodes[0] }))).toBe("200");
  });

  test("API keys are not asked for a confirmation", async () => {
    const { application } = await aStolenSession();
    const made = await relay.call("POST", "/v1/keys", { key: application.key, body: {} });
    expect(outcomeOf(made)).toBe("201");
  });

  test("covers a start of TOTP for half an hour, and no longer", async () => {
    for (const [minutes, outcome] of [
      [25, "401 invalid_credentials"],
      [31, "409 invalid_state"],
    ] as const) {
      const { session } = await aPlatform(relay);
      dataOf(await relay.call("POST", "/v1/auth/totp", { session }));
      relay.advance(minutes * MINUTE);
      const call = { session, body: { code: "AAAAA-AAAAA" } };
      expect(outcomeOf(await relay.call("POST", "/v1/auth/totp/confirm", call))).toBe(outcome);
    }
  });
});

describe("logging out of one session", () => {
  const logIn = async (email: string) =>
    dataOf(await relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } }))
      .token;
  const logOut = (session: string, everywhere: boolean) =>
    relay.call("POST", "/v1/auth/logout", { session, body: { everywhere } });
  const read = async (session: string) =>
    outcomeOf(await instance.call("GET", "/v1/users", { session }));

  test("ends that one with its confirmed tokens, on every instance, and no other", async () => {
    const { email, session } = await aPlatform(relay);
    const [mine, confirmed] = [await logIn(email), dataOf(await confirm(session)).token];
    expect(await read(session)).toBe("200");
    expect(outcomeOf(await logOut(session, false))).toBe("204");
    for (const ended of [session, confirmed]) expect(await read(ended)).toBe("401 session_expired");
    expect(await read(mine)).toBe("200");
    expect(outcomeOf(await logOut(session, false))).toBe("401 session_expired");
    expect(outcomeOf(await logOut(mine, true))).toBe("204");
    expect(await read(mine)).toBe("401 session_expired");
  });

  test("keeps no list of sessions that have expired with all that they made", async () => {
    const { id, userId, email } = await aPlatform(relay);
    for (const hours of [0, 61]) {
      relay.advance(hours * 60 * MINUTE);
      await logOut(await logIn(email), false);
    }
    const user = await userOf(relay.services, id, userId);
    expect(user?.endedSessions).toHaveLength(1);
  });
});

test("TOTP is switched off by POST, too", async () => {
  const { session } = await aPlatform(relay);
  const app = await enabledTotp(relay, session);
  const body = { password: PASSWORD, code: app.code() };
  expect(outcomeOf(await relay.call("POST", "/v1/auth/totp/remove", { session, body }))).toBe(
    "204",
  );
});
