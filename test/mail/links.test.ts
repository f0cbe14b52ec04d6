import { describe, expect, test } from "vitest";
import { LOCALES, type Locale } from "../../src/shared/runtime/locale.ts";
import { PASSWORD } from "../setup/factories.ts";
import { tokenIn } from "../setup/mail.ts";
import { useMailedRelay } from "../setup/use-relay.ts";

const mailed = useMailedRelay();

let count = 0;
const newEmail = () => `owner-${(count += 1)}@example.com`;
const NEW_PASSWORD = "violet marmot 7 teacups";

const post = (path: string, body: object, session?: string) =>
  mailed.relay.call("POST", path, { body, ...(session === undefined ? {} : { session }) });
const logIn = (email: string, password: string) => post("/v1/auth/login", { email, password });

async function signedUp(email = newEmail()) {
  const body = { email, password: PASSWORD, platformName: "Example" };
  const answer = await post("/v1/auth/signup", body);
  expect(answer.status).toBe(201);
  const mails = await mailed.mailsTo(email);
  return { email, session: answer.body.data.token as string, token: tokenIn(mails.at(-1)) };
}

async function verified() {
  const user = await signedUp();
  const answer = await post("/v1/auth/verify", { token: user.token, password: PASSWORD });
  expect(answer.status).toBe(204);
  return user;
}

async function askedForReset(email: string) {
  expect((await post("/v1/auth/reset", { email })).status).toBe(202);
  const mails = await mailed.mailsTo(email);
  return tokenIn(mails.at(-1));
}

/** What each language calls what is refused: a common password, the email address, and the name of the service. */
const REFUSED = {
  en: ["12 to 128", "common", "email address", "this service"],
  de: ["12 bis 128", "häufig", "E-Mail-Adresse", "dieses Dienstes"],
  fr: ["12 à 128", "courant", "adresse e-mail", "ce service"],
  es: ["12 a 128", "común", "dirección de correo", "este servicio"],
  pt: ["12 a 128", "comum", "endereço de e-mail", "deste serviço"],
} as const satisfies Record<Locale, readonly string[]>;

test.each(LOCALES)(
  "the pages that set a password say in %s what it has to be before one is typed, to screen readers too",
  async (locale) => {
    const { email, session } = await verified();
    const reset = await askedForReset(email);
    const invited = newEmail();
    await post("/v1/invitations", { email: invited }, session);
    const invitation = tokenIn((await mailed.mailsTo(invited)).at(-1));
    for (const path of [`reset?token=${reset}`, `invitation?token=${invitation}`]) {
      const headers = { "accept-language": locale };
      const { body } = await mailed.relay.call("GET", `/v1/auth/ui/${path}`, { headers });
      const [, hint = ""] = /id="hint">([^<]*)</.exec(String(body)) ?? [];
      for (const word of REFUSED[locale]) expect(hint).toContain(word);
      expect(body).toMatch(/<input\s+type="password"[^>]*aria-describedby="hint"/);
      // A hint inside of the label would be read twice.
      expect(/<label for="password">([^<]*)<\/label>/.exec(String(body))?.[1]).toBeTruthy();
    }
  },
);

describe("verification", () => {
  test("admits an unverified user to reads alone, and to everything after the link", async () => {
    const { session, token } = await signedUp();
    expect((await mailed.relay.call("GET", "/v1/me", { session })).status).toBe(200);
    const refused = await post("/v1/applications", { name: "App" }, session);
    expect(refused.body.error.code).toBe("email_unverified");
    expect((await post("/v1/auth/verify", { token }, session)).status).toBe(204);
    expect((await post("/v1/applications", { name: "App" }, session)).status).toBe(201);
    expect((await post("/v1/auth/verify", { token }, session)).status).toBe(204);
  });

  test("needs the session or the password of the user that the link is for", async () => {
    const { token } = await signedUp();
    const stranger = await verified();
    for (const body of [{ token }, { token, password: "not the right one" }])
      expect((await post("/v1/auth/verify", body)).body.error.code).toBe("invalid_credentials");
    const other = await post("/v1/auth/verify", { token }, stranger.session);
    expect(other.body.error.code).toBe("invalid_credentials");
  });

  test("ends the link before when another is asked for", async () => {
    const { email, session, token } = await signedUp();
    expect((await post("/v1/auth/verify/resend", {}, session)).status).toBe(202);
    const again = tokenIn((await mailed.mailsTo(email)).at(-1));
    expect((await post("/v1/auth/verify", { token }, session)).body.error.code).toBe(
      "invalid_link",
    );
    expect((await post("/v1/auth/verify", { token: again }, session)).status).toBe(204);
    const refused = await post("/v1/auth/verify/resend", {}, session);
    expect(refused.body.error.code).toBe("invalid_state");
  });

  test("an unverified stranger keeps nobody from an address", async () => {
    const stranger = await signedUp();
    const body = { email: stranger.email, password: NEW_PASSWORD, platformName: "Mine" };
    const owner = await post("/v1/auth/signup", body);
    expect(owner.status).toBe(201);
    expect((await logIn(stranger.email, PASSWORD)).body.error.code).toBe("invalid_credentials");
    const me = await mailed.relay.call("GET", "/v1/me", { session: stranger.session });
    expect(me.status).toBe(401);
    const old = await post("/v1/auth/verify", { token: stranger.token, password: PASSWORD });
    expect(old.body.error.code).toBe("invalid_link");
    const token = tokenIn((await mailed.mailsTo(stranger.email)).at(-1));
    expect((await post("/v1/auth/verify", { token, password: NEW_PASSWORD })).status).toBe(204);
    const taken = await post("/v1/auth/signup", body);
    expect(taken.body.error.code).toBe("conflict");
  });
});

describe("reset", () => {
  test("sets a new password, ends every session, and tells the user", async () => {
    const { email, session } = await verified();
    const token = await askedForReset(email);
    const done = await post("/v1/auth/reset/confirm", { token, newPassword: NEW_PASSWORD });
    expect(done.status).toBe(200);
    expect(done.body.data.deviceToken).toMatch(/^ey/);
    expect((await logIn(email, PASSWORD)).status).toBe(401);
    expect((await logIn(email, NEW_PASSWORD)).status).toBe(200);
    expect((await mailed.relay.call("GET", "/v1/me", { session })).status).toBe(401);
    const [last] = (await mailed.mailsTo(email)).toReversed();
    expect(last?.subject).toBe("Your Publishing Relay password was changed");
    const again = await post("/v1/auth/reset/confirm", { token, newPassword: PASSWORD });
    expect(again.body.error.code).toBe("invalid_link");
  });

  test("using one link ends the others, and so does a change of the password", async () => {
    const { email, session } = await verified();
    const [first, second] = [await askedForReset(email), await askedForReset(email)];
    const confirm = (token: string) =>
      post("/v1/auth/reset/confirm", { token, newPassword: NEW_PASSWORD });
    const change = { currentPassword: PASSWORD, newPassword: "granite pelican 9 ribbons" };
    expect((await post("/v1/auth/password", change, session)).status).toBe(200);
    for (const token of [first, second])
      expect((await confirm(token)).body.error.code).toBe("invalid_link");
  });

  test("ends after an hour, and when the platform is suspended", async () => {
    const { email } = await verified();
    const late = await askedForReset(email);
    mailed.relay.advance(60 * 60_000);
    const token = await askedForReset(email);
    const { body } = await mailed.relay.call("GET", "/v1/admin/platforms?limit=1", {
      operator: ["Admin"],
    });
    for (const status of ["suspended", "active"])
      await mailed.relay.call("PATCH", `/v1/admin/platforms/${body.data[0].id}`, {
        operator: ["Admin"],
        body: { status },
      });
    for (const used of [late, token]) {
      const answer = await post("/v1/auth/reset/confirm", {
        token: used,
        newPassword: NEW_PASSWORD,
      });
      expect(answer.body.error.code).toBe("invalid_link");
    }
  });

  test("sends at most three mails an hour to an address, in the same words for an unknown one", async () => {
    const { email } = await verified();
    const before = (await mailed.mailsTo(email)).length;
    for (let tries = 0; tries < 5; tries += 1) {
      const known = await post("/v1/auth/reset", { email });
      const unknown = await post("/v1/auth/reset", { email: "nobody@example.com" });
      expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
    }
    expect((await mailed.mailsTo(email)).length - before).toBe(3);
    expect(await mailed.mailsTo("nobody@example.com")).toEqual([]);
  });
});

describe("pages", () => {
  const page = (kind: string, token: string) =>
    mailed.relay.call("GET", `/v1/auth/ui/${kind}?token=${token}`);
  const submit = (kind: string, fields: Readonly<Record<string, string>>) =>
    mailed.relay.call("POST", `/v1/auth/ui/${kind}`, {
      rawBody: new URLSearchParams(fields).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });

  test("opening a link uses nothing up, and its form does", async () => {
    const { email } = await verified();
    const token = await askedForReset(email);
    for (let visit = 0; visit < 3; visit += 1)
      expect((await page("reset", token)).status).toBe(200);
    expect((await submit("reset", { token, password: "short" })).status).toBe(422);
    expect((await submit("reset", { token, password: NEW_PASSWORD })).status).toBe(200);
    expect((await submit("reset", { token, password: NEW_PASSWORD })).status).toBe(400);
    expect((await page("reset", token)).status).toBe(400);
    expect((await logIn(email, NEW_PASSWORD)).status).toBe(200);
  });

  test("the page of a verification asks for the password", async () => {
    const { email, token } = await signedUp();
    expect((await page("verify", token)).status).toBe(200);
    expect((await submit("verify", { token, password: "not the right one" })).status).toBe(422);
    expect((await submit("verify", { token, password: PASSWORD })).status).toBe(200);
    expect((await logIn(email, PASSWORD)).body.data.user.emailVerified).toBe(true);
  });

  test("a link of one kind is none of another, and a made-up one is none", async () => {
    const { token } = await signedUp();
    const made = "A".repeat(43);
    for (const [kind, used] of [
      ["reset", token],
      ["verify", made],
      ["other", token],
      ["verify", ""],
    ] as const)
      expect((await page(kind, used)).status).toBe(400);
  });

  test("pages allow no script, no frame and no referrer", async () => {
    const { token } = await signedUp();
    const { headers, body } = await page("verify", token);
    expect(headers.get("content-security-policy")).toMatch(
      /^frame-ancestors 'none'; base-uri 'none'; default-src 'none'; script-src 'none'/,
    );
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).not.toContain("<script");
    expect(mailed.relay.logLines.join("\n")).not.toContain(token);
  });
});
