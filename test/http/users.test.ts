import { describe, expect, test } from "vitest";
import { enabledTotp } from "../setup/authenticator.ts";
import {
  anApplication,
  aPlatform,
  aProfile,
  aKey,
  dataOf,
  outcomeOf,
  PASSWORD,
  type TestPlatform,
} from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay, instance } = useTwoProcesses();

let count = 0;
function uniqueEmail(): string {
  count += 1;
  return `colleague-${count}@example.com`;
}

const aTeam = () => aPlatform(relay, { tokens: 0 });

function logIn(email: string, password = PASSWORD) {
  return relay.call("POST", "/v1/auth/login", { body: { email, password } });
}

function invite(session: string, email: string, on: Relay = relay, more: object = {}) {
  return on.call("POST", "/v1/users", { session, body: { email, password: PASSWORD, ...more } });
}

const remove = (session: string, userId: string, on: Relay = relay) =>
  on.call("DELETE", `/v1/users/${userId}`, { session });

const listed = async (session: string, on: Relay = relay) =>
  dataOf(await on.call("GET", "/v1/users?limit=100", { session }));

interface Colleague {
  readonly id: string;
  readonly email: string;
  readonly session: string;
}

async function aColleague({ session }: TestPlatform): Promise<Colleague> {
  const email = uniqueEmail();
  const { id } = dataOf(await invite(session, email, relay, { role: "owner" }));
  return { id, email, session: dataOf(await logIn(email)).token };
}

describe("staff", () => {
  test("staff are added with an email and a password, and log in to the same platform", async () => {
    const team = await aTeam();
    const email = uniqueEmail();
    const { status, body } = await invite(team.session, ` ${email} `);
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^usr_/),
      email,
      role: "member",
      emailVerified: true,
      locale: "en",
      totpEnabled: false,
      createdAt: expect.stringMatching(/Z$/),
      lastLoginAt: null,
    });
    const login = dataOf(await logIn(email.toUpperCase()));
    expect([login.platform.id, login.user.id]).toEqual([team.id, body.data.id]);
    const application = { name: "Planner", createDefaultKey: false };
    const name = { session: login.token, body: application };
    expect((await relay.call("POST", "/v1/applications", name)).status).toBe(201);
  });

  test("staff are listed newest first, page by page, with what they may show", async () => {
    const team = await aTeam();
    const colleagues = [await aColleague(team), await aColleague(team), await aColleague(team)];
    await enabledTotp(relay, team.session);
    const ids: string[] = [];
    let cursor = "";
    do {
      const path = `/v1/users?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { body } = await relay.call("GET", path, { session: team.session });
      for (const user of body.data) {
        expect(Object.keys(user).sort()).toEqual(
          [
            "createdAt",
            "email",
            "emailVerified",
            "id",
            "lastLoginAt",
            "locale",
            "role",
            "totpEnabled",
          ].sort(),
        );
        ids.push(user.id);
      }
      cursor = body.page.nextCursor ?? "";
    } while (cursor !== "");
    expect(ids).toEqual([...colleagues.map(({ id }) => id).toReversed(), team.userId]);
    const [first, ...others] = (await listed(team.session)).toReversed();
    expect([first.totpEnabled, others[0].totpEnabled]).toEqual([true, false]);
    expect(await listed((await aTeam()).session)).toHaveLength(1);
  });

  test("a cursor of another platform's list is refused", async () => {
    const [mine, other] = [await aTeam(), await aTeam()];
    for (const { session } of [mine, other]) await invite(session, uniqueEmail());
    const { body } = await relay.call("GET", "/v1/users?limit=1", { session: mine.session });
    const path = `/v1/users?cursor=${body.page.nextCursor}`;
    expect(outcomeOf(await relay.call("GET", path, { session: other.session }))).toBe(
      "400 invalid_cursor",
    );
  });

  test("the latest login is shown, no matter who reads it", async () => {
    const team = await aTeam();
    const colleague = await aColleague(team);
    const shown = async () =>
      (await listed(team.session)).find(({ id }: { id: string }) => id === colleague.id)
        .lastLoginAt;
    const first = await shown();
    relay.advance(3_600_000);
    await logIn(colleague.email, "another password");
    expect(await shown()).toBe(first);
    await logIn(colleague.email);
    expect(Date.parse(await shown()) - Date.parse(first)).toBeGreaterThanOrEqual(3_600_000);
  });

  test.each([
    ["an email that is none", { email: "nobody" }, "email"],
    ["a password of 11 characters", { password: "a".repeat(11) }, "password"],
    ["a role that there is not", { role: "admin" }, "role"],
  ])("%s is refused", async (_name, body, path) => {
    const { session } = await aTeam();
    const whole = { email: uniqueEmail(), password: PASSWORD, ...body };
    const { status, body: answer } = await relay.call("POST", "/v1/users", {
      session,
      body: whole,
    });
    expect([status, answer.error.code]).toEqual([400, "validation_failed"]);
    expect(answer.error.details.issues[0].path).toBe(path);
  });

  test("an email that somebody logs in with is refused, whichever platform it is on", async () => {
    const [mine, other] = [await aTeam(), await aTeam()];
    const taken = [mine.email, other.email, other.email.toUpperCase()];
    for (const email of taken) {
      const { status, body } = await invite(mine.session, email);
      expect([status, body.error.code, body.error.details]).toEqual([409, "conflict", {}]);
    }
    expect(await listed(mine.session)).toHaveLength(1);
  });

  test("of invitations and a sign-up with one email at once, on two instances, one succeeds", async () => {
    const [mine, other] = [await aTeam(), await aTeam()];
    const email = uniqueEmail();
    const body = { email, password: PASSWORD, platformName: "Example" };
    const answers = await Promise.all([
      invite(mine.session, email),
      invite(other.session, email, instance),
      invite(mine.session, email, instance),
      relay.call("POST", "/v1/auth/signup", { body }),
    ]);
    const taken = "409 conflict";
    expect(answers.map(outcomeOf).sort()).toEqual(["201", taken, taken, taken]);
    expect((await logIn(email)).status).toBe(200);
  });
});

describe("removing staff", () => {
  test("ends their sessions at once, on every instance, and frees the email", async () => {
    const [team, other] = [await aTeam(), await aTeam()];
    const colleague = await aColleague(team);
    expect(await listed(colleague.session, instance)).toHaveLength(2);

    const { status, body } = await remove(team.session, colleague.id);
    expect([status, body]).toEqual([204, undefined]);

    for (const on of [relay, instance]) {
      const refused = await on.call("GET", "/v1/users", { session: colleague.session });
      expect(outcomeOf(refused)).toBe("401 session_expired");
    }
    expect(outcomeOf(await logIn(colleague.email))).toBe("401 invalid_credentials");
    expect(await listed(team.session)).toHaveLength(1);
    expect(outcomeOf(await remove(team.session, colleague.id))).toBe("404 not_found");
    expect(outcomeOf(await invite(other.session, colleague.email))).toBe("201");
    expect(dataOf(await logIn(colleague.email)).platform.id).toBe(other.id);
  });

  test.each<[string, (session: string, id: string, owner: string) => Promise<unknown>]>([
    ["removing staff", (_session, id, owner) => remove(owner, id)],
    ["a logout", (session) => relay.call("POST", "/v1/auth/logout", { session })],
    [
      "a logout of the session alone",
      (session) => relay.call("POST", "/v1/auth/logout", { session, body: { everywhere: false } }),
    ],
  ])("%s ends the profile grants that the session minted", async (_way, end) => {
    const team = await aTeam();
    const application = await anApplication(relay, team);
    const profile = await aProfile(relay, application);
    const restricted = await aKey(relay, application, { scope: "restricted" });
    const colleague = await aColleague(team);
    const minted = await relay.call("POST", "/v1/profile-grants", {
      session: colleague.session,
      headers: { "x-application-id": application.id },
      body: { profileId: profile.id },
    });
    const headers = { "x-profile-grant": dataOf(minted).token };
    const read = () =>
      relay.call("GET", `/v1/profiles/${profile.id}`, { key: restricted.secret, headers });
    expect(outcomeOf(await read())).toBe("200");
    await end(colleague.session, colleague.id, team.session);
    expect(outcomeOf(await read())).toBe("401 invalid_grant_token");
  });

  test("includes oneself, while somebody else is left", async () => {
    const team = await aTeam();
    const colleague = await aColleague(team);
    expect(outcomeOf(await remove(team.session, team.userId))).toBe("204");
    expect(outcomeOf(await logIn(team.email))).toBe("401 invalid_credentials");
    expect(outcomeOf(await remove(colleague.session, colleague.id))).toBe("409 invalid_state");
    expect(outcomeOf(await logIn(colleague.email))).toBe("200");
  });

  test.each(["usr_", "P", "REMOVALS", `usr_${"0".repeat(26)}`, `plt_${"0".repeat(26)}`])(
    "%s is not found",
    async (userId) => {
      const team = await aTeam();
      await aColleague(team);
      expect(outcomeOf(await remove(team.session, userId))).toBe("404 not_found");
      expect(outcomeOf(await relay.call("GET", "/v1/me", { session: team.session }))).toBe("200");
    },
  );

  test("of two users who remove each other at once, on two instances, one stays", async () => {
    for (let round = 0; round < 5; round += 1) {
      const team = await aTeam();
      const colleague = await aColleague(team);
      const answers = await Promise.all([
        remove(team.session, colleague.id),
        remove(colleague.session, team.userId, instance),
      ]);
      const outcomes = answers.map(outcomeOf);
      expect(outcomes.filter((outcome) => outcome === "204")).toHaveLength(1);
      // The later one was the last user, or its session had ended already.
      expect(["409 invalid_state", "401 session_expired"]).toContain(
        outcomes.find((outcome) => outcome !== "204"),
      );
      const survivor = outcomes[0] === "204" ? team.session : colleague.session;
      expect(await listed(survivor)).toHaveLength(1);
    }
  });

  test("of many users who remove themselves at once, one stays", async () => {
    const team = await aTeam();
    const all: readonly Pick<Colleague, "id" | "email" | "session">[] = [
      { id: team.userId, email: team.email, session: team.session },
      ...(await Promise.all(Array.from({ length: 5 }, () => aColleague(team)))),
    ];
    const answers = await Promise.all(
      all.map(({ id, session }, index) => remove(session, id, index % 2 === 0 ? relay : instance)),
    );
    const staying = all.filter((_, index) => answers[index]?.status === 409);
    expect(answers.map(outcomeOf).sort()).toEqual([
      ...Array<string>(5).fill("204"),
      "409 invalid_state",
    ]);
    for (const { session, id } of staying)
      expect((await listed(session)).map((user: { id: string }) => user.id)).toEqual([id]);
  });

  test("a removal and an invitation at once both count", async () => {
    const team = await aTeam();
    const email = uniqueEmail();
    const [removal, invitation] = await Promise.all([
      remove(team.session, team.userId),
      invite(team.session, email, instance),
    ]);
    expect(["204", "409 invalid_state"]).toContain(outcomeOf(removal));
    expect(["201", "401 invalid_credentials"]).toContain(outcomeOf(invitation));
    expect([removal.status, invitation.status]).not.toEqual([204, 401]);
  });
});

test("every change of the staff is on record, refusals too", async () => {
  const team = await aTeam();
  const colleague = await aColleague(team);
  await invite(team.session, colleague.email);
  await remove(team.session, colleague.id);
  await remove(team.session, team.userId);
  const events = dataOf(await relay.call("GET", "/v1/audit", { session: team.session }));
  const steps = events.map(
    ({ action, outcome }: Readonly<Record<string, string>>) => `${action} ${outcome}`,
  );
  expect(steps).toEqual([
    "user.deleted denied",
    "user.deleted ok",
    "user.created denied",
    "user.logged_in ok",
    "user.created ok",
    "platform.created ok",
  ]);
});
