import { describe, expect, test } from "vitest";
import { outcomeOf, PASSWORD } from "../setup/factories.ts";
import { tokenIn } from "../setup/mail.ts";
import { startRelay } from "../setup/relay.ts";
import { useMailedRelay } from "../setup/use-relay.ts";

const mailed = useMailedRelay();

let count = 0;
const newEmail = () => `invited-${(count += 1)}@example.com`;
const post = (path: string, body: object, session?: string) =>
  mailed.relay.call("POST", path, { body, ...(session === undefined ? {} : { session }) });
const lastTo = async (email: string) => (await mailed.mailsTo(email)).at(-1);

async function anOwner(platformName = "Corner Bakery") {
  const email = newEmail();
  const { body } = await post("/v1/auth/signup", { email, password: PASSWORD, platformName });
  const token = tokenIn(await lastTo(email));
  const session: string = body.data.token;
  expect((await post("/v1/auth/verify", { token }, session)).status).toBe(204);
  return { email, session, platformId: body.data.platform.id as string };
}

const accept = (token: string, password = PASSWORD) =>
  post("/v1/auth/invitations/accept", { token, password });

describe("an invitation by mail", () => {
  test("an invitation by mail has its link in the mail alone, in the language asked for", async () => {
    const owner = await anOwner();
    const email = newEmail();
    const made = await post("/v1/invitations", { email, locale: "de" }, owner.session);
    expect([made.status, "url" in made.body.data]).toEqual([201, false]);
    const mail = await lastTo(email);
    expect(mail?.subject).toBe(`${owner.email} hat Sie zu „Corner Bakery“ eingeladen`);
    expect(mail?.text).toContain("Mitglied von „Corner Bakery“");
    expect(mail?.text).toContain(`Eingeladen von: ${owner.email}\nRolle: Mitglied`);
    const token = tokenIn(mail);
    const joined = await accept(token);
    expect(joined.body.data.user).toMatchObject({ email, locale: "de", emailVerified: true });
    const { token: session } = joined.body.data;
    const body = { name: "App", createDefaultKey: false };
    expect(outcomeOf(await post("/v1/applications", body, session))).toBe("201");
    expect(mailed.relay.logLines.join("\n")).not.toContain(token);
  });

  test("an invitation by mail is mailed again with a new link, at most three times an hour", async () => {
    const owner = await anOwner();
    const email = newEmail();
    const ask = () => post("/v1/invitations", { email }, owner.session);
    const outcomes = [];
    for (let tries = 0; tries < 4; tries += 1) outcomes.push((await ask()).status);
    expect(outcomes).toEqual([201, 200, 200, 429]);
    const tokens = (await mailed.mailsTo(email)).map(tokenIn);
    const uses = [];
    for (const token of tokens) uses.push(outcomeOf(await accept(token)));
    expect(uses).toEqual(["400 invalid_link", "400 invalid_link", "201"]);
  });

  test("names the platform as it is on its page, and so that nothing becomes a link in the mail", async () => {
    for (const [name, inMail, onPage] of [
      ["Version 2.0 <b>", "“Version 2.0 <b>”", "“Version 2.0 &lt;b&gt;”"],
      ["Node.js Meetup", "“Node. js Meetup”", "“Node.js Meetup”"],
      ["Call 089/1234567 now", "“Call 089/123…”", "“Call 089/1234567 now”"],
    ] as const) {
      const owner = await anOwner(name);
      const email = newEmail();
      await post("/v1/invitations", { email }, owner.session);
      const mail = await lastTo(email);
      expect(mail?.text).toContain(inMail);
      const path = `/v1/auth/ui/invitation?token=${tokenIn(mail)}`;
      expect((await mailed.relay.call("GET", path)).body).toContain(onPage);
    }
  });

  test("takes over an account whose email was never verified", async () => {
    const owner = await anOwner();
    const email = newEmail();
    const body = { email, password: PASSWORD, platformName: "A stranger's" };
    const stranger = await post("/v1/auth/signup", body);
    await mailed.relay.drain();
    expect((await post("/v1/invitations", { email }, owner.session)).status).toBe(201);
    const joined = await accept(tokenIn(await lastTo(email)), "violet marmot 7 teacups");
    expect(joined.body.data.platform.id).toBe(owner.platformId);
    const session = stranger.body.data.token;
    expect((await mailed.relay.call("GET", "/v1/me", { session })).status).toBe(401);
    const platform = `/v1/admin/platforms/${stranger.body.data.platform.id}`;
    expect((await mailed.relay.call("GET", platform, { operator: ["Admin"] })).status).toBe(404);
  });

  test("an invitation by mail is how users are made, unless users with a password are allowed, who verify first", async () => {
    const owner = await anOwner();
    const email = newEmail();
    const call = { session: owner.session, body: { email, password: PASSWORD } };
    const refused = await mailed.relay.call("POST", "/v1/users", call);
    expect(outcomeOf(refused)).toBe("403 invitation_required");
    const settings = { ALLOW_DIRECT_USERS: "true" };
    const open = await startRelay({ sameDeploymentAs: mailed.relay, settings });
    expect((await open.call("POST", "/v1/users", call)).body.data.emailVerified).toBe(false);
    await open.stop();
    // The invitation takes the place of a colleague who has not verified the address.
    expect((await post("/v1/invitations", { email }, owner.session)).status).toBe(201);
    const joined = await accept(tokenIn(await lastTo(email)), "violet marmot 7 teacups");
    expect(joined.body.data.user.emailVerified).toBe(true);
    const { body } = await mailed.relay.call("GET", "/v1/users", { session: owner.session });
    expect(body.data.map((user: { email: string }) => user.email)).toEqual([email, owner.email]);
  });
});
