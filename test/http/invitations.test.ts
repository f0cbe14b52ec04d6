import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { aPlatform, dataOf, outcomeOf, PASSWORD, type TestPlatform } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { purgeExpired } from "../setup/walks.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const DAY = 24 * 60 * 60_000;
const OTHER_PASSWORD = "violet marmot 7 teacups";

const { relay, instance } = useTwoProcesses();

const uniqueEmail = () => `invited-${randomBytes(8).toString("hex")}@example.com`;
const aTeam = () => aPlatform(relay, { tokens: 0 });

const invite = (session: string, body: object, on: Relay = relay) =>
  on.call("POST", "/v1/invitations", { session, body });
const tokenOf = (url: string) => new URL(url).searchParams.get("token") ?? "";
const accept = (token: string, password = PASSWORD, on: Relay = relay) =>
  on.call("POST", "/v1/auth/invitations/accept", { body: { token, password } });
const withdraw = (session: string, id: string) =>
  relay.call("DELETE", `/v1/invitations/${id}`, { session });

async function listed(session: string, status = "") {
  const query = status === "" ? "" : `?status=${status}`;
  return dataOf(await relay.call("GET", `/v1/invitations${query}`, { session }));
}
const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

async function anInvitation({ session }: TestPlatform, more: object = {}) {
  const email = uniqueEmail();
  const made = dataOf(await invite(session, { email, ...more }));
  return { id: made.id as string, email, token: tokenOf(made.url) };
}

/** An owner who was invited. */
async function aSecondOwner(team: TestPlatform) {
  const { token } = await anInvitation(team, { role: "owner" });
  const { user, token: session } = dataOf(await accept(token));
  return { id: user.id as string, session: session as string };
}

async function setStatus(platformId: string, status: string) {
  const call = { operator: ["Admin"], body: { status } };
  dataOf(await relay.call("PATCH", `/v1/admin/platforms/${platformId}`, call));
}

describe("an invitation", () => {
  test("an invitation is a link to hand over where there is no mail, with which a colleague logs in", async () => {
    const team = await aTeam();
    const email = uniqueEmail();
    const answer = await invite(team.session, { email: ` ${email} `, locale: "fr" });
    expect(answer.status).toBe(201);
    const { id, url, ...made } = answer.body.data;
    expect(made).toEqual({
      email,
      role: "member",
      status: "open",
      invitedBy: { id: team.userId, email: team.email },
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      acceptedAt: null,
    });
    expect(Math.round((Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / DAY)).toBe(7);
    expect(await listed(team.session)).toEqual([{ id, ...made }]);
    const joined = await accept(tokenOf(url));
    expect(joined.status).toBe(201);
    expect(joined.body.data).toMatchObject({
      platform: { id: team.id },
      user: { email, role: "member", emailVerified: true, locale: "fr", lastLoginAt: null },
      deviceToken: expect.stringMatching(/^ey/),
    });
    const me = await relay.call("GET", "/v1/me", { session: joined.body.data.token });
    expect(me.body.data.id).toBe(team.id);
    const body = { email: email.toUpperCase(), password: PASSWORD };
    expect(outcomeOf(await relay.call("POST", "/v1/auth/login", { body }))).toBe("200");
    expect(outcomeOf(await accept(tokenOf(url)))).toBe("400 invalid_link");
    expect(await listed(team.session)).toEqual([]);
    const [accepted] = await listed(team.session, "accepted");
    expect(accepted).toEqual({
      id,
      ...made,
      status: "accepted",
      acceptedAt: expect.stringMatching(/Z$/),
    });
  });

  test("makes one user of two uses at the same time, on two instances", async () => {
    const team = await aTeam();
    const { token, email } = await anInvitation(team);
    const uses = [PASSWORD, OTHER_PASSWORD];
    const answers = await Promise.all([
      accept(token, PASSWORD),
      accept(token, OTHER_PASSWORD, instance),
    ]);
    expect(answers.map(outcomeOf).toSorted()).toEqual(["201", "400 invalid_link"]);
    const logIns = await Promise.all(
      uses.map((password) => relay.call("POST", "/v1/auth/login", { body: { email, password } })),
    );
    expect(logIns.map(({ status }) => status < 300)).toEqual(
      answers.map(({ status }) => status < 300),
    );
    expect(dataOf(await relay.call("GET", "/v1/users", { session: team.session }))).toHaveLength(2);
  });

  test("asked for again is the same with a new link and the role asked for now", async () => {
    const team = await aTeam();
    const first = await anInvitation(team);
    const again = await invite(team.session, { email: first.email.toUpperCase(), role: "owner" });
    expect(again.status).toBe(200);
    expect(again.body.data).toMatchObject({ id: first.id, email: first.email, role: "owner" });
    expect(outcomeOf(await accept(first.token))).toBe("400 invalid_link");
    const { user } = dataOf(await accept(tokenOf(again.body.data.url)));
    expect([user.role, user.email]).toEqual(["owner", first.email]);
  });

  test("an invitation of one address is one, also when it is asked for twice at the same time", async () => {
    const team = await aTeam();
    const email = uniqueEmail();
    const answers = await Promise.all([
      invite(team.session, { email }),
      invite(team.session, { email }, instance),
    ]);
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["200", "201"]);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(await listed(team.session)).toHaveLength(1);
  });

  test("works no more once it is withdrawn, which may be repeated", async () => {
    const team = await aTeam();
    const { id, token, email } = await anInvitation(team);
    for (let tries = 0; tries < 2; tries += 1)
      expect(outcomeOf(await withdraw(team.session, id))).toBe("204");
    expect(outcomeOf(await accept(token))).toBe("400 invalid_link");
    expect(idsOf(await listed(team.session, "withdrawn"))).toEqual([id]);
    const next = await invite(team.session, { email });
    expect([next.status, next.body.data.id === id]).toEqual([201, false]);
    dataOf(await accept(tokenOf(next.body.data.url)));
    expect(outcomeOf(await withdraw(team.session, next.body.data.id))).toBe("409 invalid_state");
  });

  test("ends after a week, and is another one then", async () => {
    const team = await aTeam();
    const { id, token, email } = await anInvitation(team);
    relay.advance(7 * DAY);
    expect(outcomeOf(await accept(token))).toBe("400 invalid_link");
    const login = { email: team.email, password: PASSWORD };
    const { token: session } = dataOf(await relay.call("POST", "/v1/auth/login", { body: login }));
    expect(await listed(session)).toEqual([]);
    const [expired] = await listed(session, "expired");
    expect(expired).toMatchObject({ id, status: "expired" });
    const next = await invite(session, { email });
    expect([next.status, next.body.data.id === id]).toEqual([201, false]);
    relay.advance(91 * DAY);
    await purgeExpired(relay.services);
    const { token: later } = dataOf(await relay.call("POST", "/v1/auth/login", { body: login }));
    expect(idsOf(await listed(later, "expired"))).toEqual([next.body.data.id]);
  });

  test("ends with the user who made it, unless somebody else asks for it again", async () => {
    const team = await aTeam();
    const other = await aSecondOwner(team);
    const invited = async () => {
      const email = uniqueEmail();
      const { id, url } = dataOf(await invite(other.session, { email }));
      return { id, email, token: tokenOf(url) };
    };
    const [gone, kept] = [await invited(), await invited()];
    const renewed = dataOf(await invite(team.session, { email: kept.email }));
    const remove = { session: team.session };
    expect((await relay.call("DELETE", `/v1/users/${other.id}`, remove)).status).toBe(204);
    expect(outcomeOf(await accept(gone.token))).toBe("400 invalid_link");
    const [withdrawn] = await listed(team.session, "withdrawn");
    expect(withdrawn).toMatchObject({ id: gone.id, status: "withdrawn", invitedBy: null });
    expect(idsOf(await listed(team.session))).toEqual([kept.id]);
    expect(outcomeOf(await accept(tokenOf(renewed.url)))).toBe("201");
    expect((await invite(team.session, { email: gone.email })).status).toBe(201);
  });

  test("ends when the user who made it is no owner any more, so that they don't come back as one", async () => {
    const team = await aTeam();
    const other = await aSecondOwner(team);
    const { id, token } = await anInvitation(
      { ...team, session: other.session },
      { role: "owner" },
    );
    const setRole = (role: string) =>
      relay.call("PATCH", `/v1/users/${other.id}`, { session: team.session, body: { role } });
    expect((await setRole("member")).status).toBe(200);
    expect(outcomeOf(await accept(token, PASSWORD, instance))).toBe("400 invalid_link");
    expect(await listed(team.session)).toEqual([]);
    expect(idsOf(await listed(team.session, "withdrawn"))).toEqual([id]);
  });

  test("ends with a new password of the user who made it, so that no stranger with their session joins", async () => {
    const team = await aTeam();
    const { id, email, token } = await anInvitation(team, { role: "owner" });
    const body = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
    const changed = await relay.call("POST", "/v1/auth/password", { session: team.session, body });
    expect(changed.status).toBe(200);
    expect(outcomeOf(await accept(token, PASSWORD, instance))).toBe("400 invalid_link");
    const login = { email: team.email, password: OTHER_PASSWORD };
    const { token: session } = dataOf(await relay.call("POST", "/v1/auth/login", { body: login }));
    expect(idsOf(await listed(session, "withdrawn"))).toEqual([id]);
    const again = dataOf(await invite(session, { email }));
    expect(outcomeOf(await accept(tokenOf(again.url)))).toBe("201");
  });

  test("an invitation is refused while the platform is suspended, and ended by it", async () => {
    const team = await aTeam();
    const { token, email } = await anInvitation(team);
    await setStatus(team.id, "suspended");
    expect(outcomeOf(await accept(token))).toBe("403 platform_suspended");
    await setStatus(team.id, "active");
    expect(outcomeOf(await accept(token))).toBe("400 invalid_link");
    const again = await invite(team.session, { email });
    expect(again.status).toBe(200);
    expect(outcomeOf(await accept(tokenOf(again.body.data.url)))).toBe("201");
  });

  test("claims no email, and is refused to somebody who logs in elsewhere", async () => {
    const [team, other] = [await aTeam(), await aTeam()];
    const { url } = dataOf(await invite(team.session, { email: other.email }));
    const token = tokenOf(url);
    expect(outcomeOf(await accept(token))).toBe("409 conflict");
    const path = `/v1/admin/platforms/${other.id}/users/${other.userId}`;
    expect((await relay.call("DELETE", path, { operator: ["Admin"] })).status).toBe(204);
    expect(dataOf(await accept(token)).user.email).toBe(other.email);
  });

  test("an invitation of a colleague is a conflict that names them", async () => {
    const team = await aTeam();
    const { status, body } = await invite(team.session, { email: team.email.toUpperCase() });
    expect([status, body.error.code]).toEqual([409, "conflict"]);
    expect(body.error.details).toEqual({ existingId: team.userId });
  });

  test("goes on working after a password that is too weak", async () => {
    const team = await aTeam();
    const { token, email } = await anInvitation(team);
    const weak = await accept(token, email);
    expect(weak.body.error.details.issues[0].code).toBe("password_too_weak");
    expect(outcomeOf(await accept(token))).toBe("201");
  });

  test("goes on working while the pepper of hashes is replaced", async () => {
    const settings = { KEY_PEPPER_PREVIOUS: relay.services.config.identity.keyPepper };

    const rotated = await startRelay({
      sameDeploymentAs: relay,
      settings: { ...settings, KEY_PEPPER: "p".repeat(40) },
    });
    const { token } = await anInvitation(await aTeam());
    expect(outcomeOf(await accept(token, PASSWORD, rotated))).toBe("201");
    await rotated.stop();
  });
});

describe("invitations", () => {
  test("invitations are listed newest first, page by page, and to their own platform alone", async () => {
    const team = await aTeam();
    const made = [];
    for (let count = 0; count < 5; count += 1) made.push((await anInvitation(team)).id);
    const found: string[] = [];
    let cursor = "";
    do {
      const path = `/v1/invitations?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { body } = await relay.call("GET", path, { session: team.session });
      found.push(...idsOf(body.data));
      cursor = body.page.nextCursor ?? "";
    } while (cursor !== "");
    expect(found).toEqual(made.toReversed());
    const other = await aTeam();
    expect(await listed(other.session)).toEqual([]);
    for (const id of [made[0] ?? "", `inv_${"0".repeat(26)}`, "inv_", "P"])
      expect(outcomeOf(await withdraw(other.session, id))).toBe("404 not_found");
    expect(await listed(team.session)).toHaveLength(5);
  });

  test("invitations are fifty a day for a platform", async () => {
    const team = await aTeam();
    const email = uniqueEmail();
    const outcomes = [];
    for (let count = 0; count < 51; count += 1)
      outcomes.push(outcomeOf(await invite(team.session, { email })));
    expect(outcomes.slice(0, 50)).not.toContain("429 rate_limited");
    expect(outcomes.at(-1)).toBe("429 rate_limited");
    expect((await invite((await aTeam()).session, { email })).status).toBe(201);
  });

  test("take the place of users with a password where those are off", async () => {
    const settings = { ALLOW_DIRECT_USERS: "false" };
    const strict = await startRelay({ sameDeploymentAs: relay, settings });
    const team = await aTeam();
    const body = { email: uniqueEmail(), password: PASSWORD };
    const call = { session: team.session, body };
    expect(outcomeOf(await strict.call("POST", "/v1/users", call))).toBe("403 invitation_required");
    expect(outcomeOf(await relay.call("POST", "/v1/users", call))).toBe("201");
    await strict.stop();
  });
});

describe("the page of an invitation", () => {
  const open = (token: string, language = "en") =>
    relay.call("GET", `/v1/auth/ui/invitation?token=${token}`, {
      headers: { "accept-language": language },
    });
  const submit = (token: string, password: string) =>
    relay.call("POST", "/v1/auth/ui/invitation", {
      rawBody: new URLSearchParams({ token, password }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });

  test("says what one joins, uses nothing up, and its form makes the user", async () => {
    const team = await aPlatform(relay, { tokens: 0, name: "Corner Bakery & Sons" });
    const { token, email } = await anInvitation(team);
    for (let visit = 0; visit < 3; visit += 1) {
      const { status, body } = await open(token);
      expect(status).toBe(200);
      expect(body).toContain("“Corner Bakery &amp; Sons”");
      expect(body).toContain(email);
    }
    const weak = await submit(token, "short");
    expect([weak.status, weak.body.includes(email)]).toEqual([422, true]);
    expect((await submit(token, PASSWORD)).status).toBe(200);
    expect((await submit(token, PASSWORD)).status).toBe(400);
    expect((await open(token)).status).toBe(400);
    const body = { email, password: PASSWORD };
    expect(outcomeOf(await relay.call("POST", "/v1/auth/login", { body }))).toBe("200");
  });

  test("shows the name as it is, which no page makes a link of, and says why it does not work", async () => {
    const team = await aPlatform(relay, { tokens: 0, name: "Win at <i>evil.example" });
    const other = await aTeam();
    const { url } = dataOf(await invite(team.session, { email: other.email }));
    const token = tokenOf(url);
    const { body } = await open(token, "de");
    expect(body).toContain("„Win at &lt;i&gt;evil.example“");
    expect(body).not.toMatch(/href="[^"]*evil/);
    expect((await submit(token, PASSWORD)).status).toBe(409);
    const closing = { session: team.session, body: { name: "Win at <i>evil.example" } };
    expect((await relay.call("POST", "/v1/platform/close", closing)).status).toBe(202);
    expect(outcomeOf(await accept(token))).toBe("403 platform_closed");
    expect((await open(token)).status).toBe(403);
    expect((await submit(token, PASSWORD)).status).toBe(403);
  });
});
