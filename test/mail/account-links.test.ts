import { describe, expect, test } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import { dataOf, PASSWORD } from "../setup/factories.ts";
import { tokenIn } from "../setup/mail.ts";
import { useMailedRelay } from "../setup/use-relay.ts";

const mailed = useMailedRelay();

let count = 0;
const newEmail = () => `person-${(count += 1)}@example.com`;
const post = (path: string, body: object, session?: string) =>
  mailed.relay.call("POST", path, { body, ...(session === undefined ? {} : { session }) });
const lastTo = async (email: string) => (await mailed.mailsTo(email)).at(-1);

async function aUser() {
  const email = newEmail();
  const body = { email, password: PASSWORD, platformName: "Example" };
  const { body: answer } = await post("/v1/auth/signup", body);
  const session: string = answer.data.token;
  const token = tokenIn(await lastTo(email));
  expect((await post("/v1/auth/verify", { token }, session)).status).toBe(204);
  return { email, session, id: answer.data.user.id, platformId: answer.data.platform.id };
}

describe("a change of the email", () => {
  test("takes effect with the link and the password, and tells the address before", async () => {
    const user = await aUser();
    const to = newEmail();
    const asked = await post("/v1/auth/email", { newEmail: to, password: PASSWORD }, user.session);
    expect(asked.status).toBe(202);
    expect((await lastTo(user.email))?.subject).toContain("about to change");
    const token = tokenIn(await lastTo(to));
    const without = await post("/v1/auth/verify", { token });
    expect(without.body.error.code).toBe("invalid_credentials");
    expect((await post("/v1/auth/verify", { token, password: PASSWORD })).status).toBe(204);
    const logIn = (email: string) => post("/v1/auth/login", { email, password: PASSWORD });
    expect((await logIn(to)).body.data.user.email).toBe(to);
    expect((await logIn(user.email)).body.error.code).toBe("invalid_credentials");
    expect((await lastTo(user.email))?.subject).toContain("was changed");
    const again = await post("/v1/auth/verify", { token, password: PASSWORD });
    expect(again.body.error.code).toBe("invalid_link");
    const free = { email: user.email, password: PASSWORD, platformName: "Another" };
    expect((await post("/v1/auth/signup", free)).status).toBe(201);
  });

  test("a change of the email is asked for fifty times a day by a platform, whatever the addresses", async () => {
    const user = await aUser();
    const outcomes: number[] = [];
    for (let change = 0; change < 52; change += 1) {
      // A user's passwords are hashed ten times a minute.
      if (change % 10 === 0) mailed.relay.advance(2 * 60_000);
      const body = { newEmail: newEmail(), password: PASSWORD };
      outcomes.push((await post("/v1/auth/email", body, user.session)).status);
    }
    expect(outcomes).toEqual([...Array<number>(50).fill(202), 429, 429]);
    const other = await aUser();
    const body = { newEmail: newEmail(), password: PASSWORD };
    expect((await post("/v1/auth/email", body, other.session)).status).toBe(202);
  });

  test("a change of the email is refused without the right password, and for a taken address once it is followed", async () => {
    const [user, other] = [await aUser(), await aUser()];
    const wrong = { newEmail: newEmail(), password: "not the right one" };
    expect((await post("/v1/auth/email", wrong, user.session)).status).toBe(401);
    const taken = { newEmail: other.email, password: PASSWORD };
    expect((await post("/v1/auth/email", taken, user.session)).status).toBe(202);
    const token = tokenIn(await lastTo(other.email));
    const body = { token, password: PASSWORD };
    expect((await post("/v1/auth/verify", body)).body.error.code).toBe("conflict");
    const own = await post("/v1/auth/login", { email: other.email, password: PASSWORD });
    expect(own.body.data.user.id).toBe(other.id);
  });

  test("a link to a mistyped address gives its reader nothing", async () => {
    const user = await aUser();
    const stranger = newEmail();
    await post("/v1/auth/email", { newEmail: stranger, password: PASSWORD }, user.session);
    const token = tokenIn(await lastTo(stranger));
    const guess = await post("/v1/auth/verify", { token, password: "a guess of a stranger" });
    expect(guess.body.error.code).toBe("invalid_credentials");
    const change = { currentPassword: PASSWORD, newPassword: "granite pelican 9 ribbons" };
    expect((await post("/v1/auth/password", change, user.session)).status).toBe(200);
    const late = await post("/v1/auth/verify", { token, password: "granite pelican 9 ribbons" });
    expect(late.body.error.code).toBe("invalid_link");
  });
});

describe("an operator's reset link", () => {
  const make = ({ platformId, id }: { platformId: string; id: string }, body: object = {}) =>
    mailed.relay.call("POST", `/v1/admin/platforms/${platformId}/users/${id}/reset-link`, {
      operator: ["Admin"],
      body,
    });

  test("sets a password once, ends the one made before, and the user is told", async () => {
    const user = await aUser();
    const tokens = [await make(user), await make(user)].map(({ status, body }) => {
      expect(status).toBe(201);
      return new URL(body.data.url).searchParams.get("token") ?? "";
    });
    expect((await lastTo(user.email))?.subject).toBe(
      `An operator created a reset link for ${user.email}`,
    );
    const uses = [];
    for (const token of [...tokens, ...tokens])
      uses.push(
        (await post("/v1/auth/reset/confirm", { token, newPassword: "violet marmot 7 teacups" }))
          .status,
      );
    expect(uses).toEqual([400, 200, 400, 400]);
  });

  test("tells the user and the owners, and no other staff", async () => {
    const owner = await aUser();
    const { users } = mailed.relay.services.people.stores;
    const found = await users.find(owner.platformId, owner.id);
    if (found === undefined) throw new Error("the owner is gone");
    const staff = (["owner", "member", "member"] as const).map((role) => ({
      ...found,
      id: newId("user", mailed.relay.clock.now()),
      email: newEmail(),
      role,
    }));
    for (const user of staff) await users.create(user);
    const [second, member, other] = staff;
    if (second === undefined || member === undefined || other === undefined) throw new Error();
    const told = [owner.email, second.email, member.email];
    dataOf(await make({ platformId: owner.platformId, id: member.id }));
    const subject = `An operator created a reset link for ${member.email}`;
    for (const email of told) expect((await lastTo(email))?.subject).toBe(subject);
    expect(await lastTo(other.email)).toBeUndefined();
  });

  test("an operator's reset link is for admins, and for users that there are", async () => {
    const user = await aUser();
    const path = `/v1/admin/platforms/${user.platformId}/users/${user.id}/reset-link`;
    const call = { operator: ["Operator"], body: {} };
    expect((await mailed.relay.call("POST", path, call)).status).toBe(403);
    expect((await make({ ...user, id: `usr_${"0".repeat(26)}` })).status).toBe(404);
  });
});
