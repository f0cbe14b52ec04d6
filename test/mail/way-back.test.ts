import { describe, expect, test, vi } from "vitest";
import { enabledTotp } from "../setup/authenticator.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";
import { aKey, anApplication, aProfile, dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import type { Answer } from "../setup/relay.ts";
import { useTwoMailedProcesses } from "../setup/use-relay.ts";
import {
  acceptWith,
  askForReset,
  invited,
  lastToken,
  logIn,
  NEW_PASSWORD,
  newEmail,
  post,
  resetWith,
  unverified,
  verified,
} from "./people.ts";

const { mailed, second } = useTwoMailedProcesses();

const OWN = { address: "203.0.113.9" };
const ELSEWHERE = { address: "192.0.2.77" };

/** A way to set a password with the link of a mail, and what later logins of this browser or client send. */
type Way = (token: string) => Promise<{
  readonly body: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}>;

const formType = { "content-type": "application/x-www-form-urlencoded" };

/** Opens a page and sends its form, as a browser does. */
async function sendPage(page: string, token: string, password: string) {
  const opened = await mailed.relay.call("GET", `/v1/auth/ui/${page}?token=${token}`);
  expect(opened.status).toBe(200);
  const known = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  const form = { token, username: "", password };
  const send = async (): Promise<Answer> =>
    await mailed.relay.call("POST", `/v1/auth/ui/${page}`, {
      rawBody: new URLSearchParams(form).toString(),
      headers: { ...formType, cookie: known },
    });
  return { known, send };
}

const WAYS: Readonly<Record<string, Way>> = {
  async "the API"(token) {
    const { deviceToken } = dataOf(await resetWith(mailed.relay, token));
    return { body: { deviceToken }, headers: {} };
  },
  async "the page"(token) {
    const { send } = await sendPage("reset", token, NEW_PASSWORD);
    const answer = await send();
    expect(answer.status).toBe(200);
    const set = answer.headers.get("set-cookie") ?? "";
    expect(set).toContain("HttpOnly; SameSite=Strict");
    return { body: {}, headers: { cookie: set.split(";")[0] ?? "" } };
  },
};

/** Twenty networks guess as long as they are let. */
async function guessAway(email: string): Promise<void> {
  for (let index = 0; index < 100; index += 1)
    await post(
      second,
      "/v1/auth/login",
      { email, password: `guess ${index}` },
      { address: `198.51.${index % 20}.1` },
    );
}

describe.each(Object.entries(WAYS))("a password that is reset by %s", (_name, reset) => {
  test("lets the owner in on a device that nobody knows, and on this one while strangers guess on", async () => {
    const { email } = await verified(mailed);
    await guessAway(email);
    const blocked = await post(second, "/v1/auth/login", { email, password: PASSWORD }, OWN);
    expect(outcomeOf(blocked)).toBe("429 rate_limited");
    await askForReset(mailed.relay, { email });
    const { body, headers } = await reset(await lastToken(mailed, email));
    const login = { email, password: NEW_PASSWORD };
    expect(outcomeOf(await post(second, "/v1/auth/login", login, ELSEWHERE))).toBe("200");
    await guessAway(email);
    expect(outcomeOf(await post(second, "/v1/auth/login", login, ELSEWHERE))).toBe(
      "429 rate_limited",
    );
    const own = await second.call("POST", "/v1/auth/login", {
      body: { ...login, ...body },
      headers: { ...headers, "x-forwarded-for": OWN.address },
    });
    expect(outcomeOf(own)).toBe("200");
    const { token: session } = dataOf(own);
    const confirm = { body: { password: NEW_PASSWORD, ...body }, headers, session };
    expect(outcomeOf(await second.call("POST", "/v1/auth/confirm", confirm))).toBe("200");
  });

  test("ends every session and what they made, and keeps the keys that they made", async () => {
    const { email, id: userId, platformId, session } = await verified(mailed);
    const { relay } = mailed;
    const platform = { id: platformId, email, userId, session };
    const credit = { operator: ["Admin"], body: { platformId, tokens: 100 } };
    dataOf(await relay.call("POST", "/v1/billing/admin/credit", credit));
    const application = await anApplication(relay, platform);
    const profile = await aProfile(relay, application);
    const restricted = await aKey(relay, application, { scope: "restricted" });
    const grant = dataOf(
      await post(relay, "/v1/profile-grants", { profileId: profile.id }, session),
    ).token;
    const linking = `/v1/profiles/${profile.id}/connect/sessions`;
    const { connectUrl } = dataOf(await post(relay, linking, {}, session));
    const { pathname, search } = new URL(connectUrl);
    const uses = {
      session: () => second.call("GET", "/v1/me", { session }),
      grant: () =>
        second.call("GET", "/v1/posts", {
          key: restricted.secret,
          headers: { "x-profile-id": profile.id, "x-profile-grant": grant },
        }),
      link: () => second.call("GET", `${pathname.replace(/^\/api/, "")}${search}`),
      key: () => second.call("GET", "/v1/me", { key: application.key }),
      restricted: () => second.call("GET", "/v1/me", { key: restricted.secret }),
    };
    const statuses = async () =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(uses).map(async ([name, use]) => [name, (await use()).status]),
        ),
      );
    const all = { session: 200, grant: 200, link: 200, key: 200, restricted: 200 };
    expect(await statuses()).toEqual(all);
    await askForReset(relay, { email });
    await reset(await lastToken(mailed, email));
    expect(await statuses()).toEqual({ ...all, session: 401, grant: 401, link: 410 });
  });

  test("ends the block of ten wrong codes", async () => {
    const { email, session } = await verified(mailed);
    const app = await enabledTotp(mailed.relay, session);
    const logIn = (password: string, totpCode: string, address: string) =>
      post(second, "/v1/auth/login", { email, password, totpCode }, { address });
    for (let index = 0; index < 10; index += 1)
      await logIn(PASSWORD, "00000-00000", `198.51.${index}.1`);
    const refused = await logIn(PASSWORD, app.recoveryCodes[0] ?? "", OWN.address);
    expect(outcomeOf(refused)).toBe("429 rate_limited");
    await askForReset(mailed.relay, { email });
    await reset(await lastToken(mailed, email));
    const answer = await logIn(NEW_PASSWORD, app.recoveryCodes[0] ?? "", OWN.address);
    expect(outcomeOf(answer)).toBe("200");
  });
});

test("a reset forgets codes that were still being checked when it was made", async () => {
  const { email, session } = await verified(mailed);
  const app = await enabledTotp(mailed.relay, session);
  const { limits } = second.services.tenants;
  const begin = limits.beginLoginAttempt.bind(limits);
  const checked = Promise.withResolvers<void>();
  let held = 0;
  const holding = vi.spyOn(limits, "beginLoginAttempt").mockImplementation(async (trier) => {
    const attempt = await begin(trier);
    return {
      admitCode: (of) => attempt.admitCode(of),
      wrongCodes: () => attempt.wrongCodes(),
      passed: () => attempt.passed(),
      succeeded: (what) => attempt.succeeded(what),
      async failed(what, failedCheck) {
        held += 1;
        await checked.promise;
        return await attempt.failed(what, failedCheck);
      },
    };
  });
  const guesses = Array.from({ length: 10 }, (_, index) =>
    post(
      second,
      "/v1/auth/login",
      { email, password: PASSWORD, totpCode: "00000-00000" },
      { address: `198.51.${index}.1` },
    ),
  );
  await vi.waitFor(() => expect(held).toBe(10), PATIENCE_MS);
  await askForReset(mailed.relay, { email });
  expect((await resetWith(mailed.relay, await lastToken(mailed, email))).status).toBe(200);
  checked.resolve();
  for (const guess of await Promise.all(guesses)) expect(guess.status).toBe(401);
  holding.mockRestore();
  const right = { email, password: NEW_PASSWORD, totpCode: app.recoveryCodes[0] };
  expect(outcomeOf(await post(second, "/v1/auth/login", right, ELSEWHERE))).toBe("200");
});

describe("a live session", () => {
  test("is not blocked by strangers' failures, and has five of its own", async () => {
    const { email, session } = await verified(mailed);
    await guessAway(email);
    const change = (currentPassword: string) =>
      post(second, "/v1/auth/password", { currentPassword, newPassword: NEW_PASSWORD }, session);
    const changed = await change(PASSWORD);
    expect(outcomeOf(changed)).toBe("200");
    const { deviceToken } = dataOf(changed);
    const login = { email, password: NEW_PASSWORD };
    expect(outcomeOf(await post(second, "/v1/auth/login", login, OWN))).toBe("429 rate_limited");
    expect(outcomeOf(await post(second, "/v1/auth/login", { ...login, deviceToken }, OWN))).toBe(
      "200",
    );
    const confirm = (password: string) => post(second, "/v1/auth/confirm", { password }, session);
    for (let guess = 0; guess < 5; guess += 1)
      expect(outcomeOf(await confirm(`guess ${guess}`))).toBe("401 invalid_credentials");
    expect(outcomeOf(await confirm(NEW_PASSWORD))).toBe("429 rate_limited");
    expect(outcomeOf(await change(NEW_PASSWORD))).toBe("429 rate_limited");
  });
});

describe("the form of a link's page", () => {
  test("answers a repeat by the same browser as done for ten minutes, and by no other", async () => {
    const { email } = await verified(mailed);
    await askForReset(mailed.relay, { email });
    const token = await lastToken(mailed, email);
    const { known, send } = await sendPage("reset", token, NEW_PASSWORD);
    for (const answer of await Promise.all([send(), send()])) expect(answer.status).toBe(200);
    expect((await send()).status).toBe(200);
    const path = `/v1/auth/ui/reset?token=${token}`;
    const again = await mailed.relay.call("GET", path, { headers: { cookie: known } });
    expect(again.status).toBe(200);
    expect((await mailed.relay.call("GET", path)).status).toBe(400);
    const other = new URLSearchParams({ token, password: "copper lantern 4 walnuts" }).toString();
    const changed = await mailed.relay.call("POST", "/v1/auth/ui/reset", {
      rawBody: other,
      headers: { ...formType, cookie: known },
    });
    expect(changed.status).toBe(400);
    mailed.relay.advance(10 * 60_000);
    expect((await send()).status).toBe(400);
  });
});

/** Sends a form once, and again after it worked. */
async function sendTwice(page: string, token: string, password: string) {
  const { send } = await sendPage(page, token, password);
  return [(await send()).status, (await send()).status];
}

describe("the pages of other links", () => {
  test("each page tells password managers whose password it takes", async () => {
    const owner = await verified(mailed);
    const newAddress = newEmail();
    const change = { newEmail: newAddress, password: PASSWORD };
    expect((await post(mailed.relay, "/v1/auth/email", change, owner.session)).status).toBe(202);
    const signedUp = await unverified(mailed);
    const guest = await invited(mailed);
    await askForReset(mailed.relay, guest.owner);
    for (const [page, token, email] of [
      ["email", await lastToken(mailed, newAddress), newAddress],
      ["verify", await lastToken(mailed, signedUp.email), signedUp.email],
      ["invitation", guest.token, guest.email],
      ["reset", await lastToken(mailed, guest.owner.email), guest.owner.email],
    ] as const) {
      const { body } = await mailed.relay.call("GET", `/v1/auth/ui/${page}?token=${token}`);
      const [field = ""] = /<input[^>]*id="username"[^>]*>/.exec(body) ?? [];
      expect(field.replace(/\s+/g, " "), page).toContain(
        `value="${email}" autocomplete="username" readonly`,
      );
    }
  });

  test("an invitation is accepted once, and anyone who follows its link later reads what to do", async () => {
    for (const accept of [
      async (token: string) =>
        expect(await sendTwice("invitation", token, PASSWORD)).toEqual([200, 200]),
      async (token: string) => expect((await acceptWith(mailed.relay, token)).status).toBe(201),
    ]) {
      const { email, token } = await invited(mailed);
      await accept(token);
      expect(outcomeOf(await logIn(second, email))).toBe("200");
      const later = await mailed.relay.call("GET", `/v1/auth/ui/invitation?token=${token}`);
      expect(later.status).toBe(400);
      expect(later.body).toContain("This invitation was already accepted");
      expect(outcomeOf(await acceptWith(second, token))).toBe("400 invalid_link");
    }
  });

  test("a change of the email is done once, and repeated by its browser", async () => {
    const { session, email } = await verified(mailed);
    const to = newEmail();
    await post(mailed.relay, "/v1/auth/email", { newEmail: to, password: PASSWORD }, session);
    const token = await lastToken(mailed, to);
    const path = `/v1/auth/ui/email?token=${token}`;
    // A stranger who reads the new mailbox learns nothing of the present address.
    expect((await mailed.relay.call("GET", path)).body).not.toContain(email);
    expect(await sendTwice("email", token, PASSWORD)).toEqual([200, 200]);
    expect(outcomeOf(await logIn(second, to))).toBe("200");
    expect(outcomeOf(await logIn(second, email))).toBe("401 invalid_credentials");
  });

  test("a link alone verifies nothing: its page asks for the password of who signed up", async () => {
    const { email } = await unverified(mailed);
    const token = await lastToken(mailed, email);
    expect(await sendTwice("verify", token, "the mailbox owner's own")).toEqual([422, 422]);
    expect(dataOf(await logIn(second, email)).user.emailVerified).toBe(false);
    expect(await sendTwice("verify", token, PASSWORD)).toEqual([200, 200]);
    expect(dataOf(await logIn(second, email)).user.emailVerified).toBe(true);
  });
});
