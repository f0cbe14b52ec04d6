import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aKey, anApplication, aProfile, dataOf, type TestApplication } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

const secret = (name: string) => name.padEnd(40, "-");
const OLD = { SESSION_SECRET: secret("old-session"), GRANT_SECRET: secret("old-grant") };
const NEW = { SESSION_SECRET: secret("new-session"), GRANT_SECRET: secret("new-grant") };
const PREVIOUS = {
  SESSION_SECRET_PREVIOUS: OLD.SESSION_SECRET,
  GRANT_SECRET_PREVIOUS: OLD.GRANT_SECRET,
};

/** What an instance gave out, and whether another instance of the deployment takes it. */
interface GivenOut {
  readonly session: string;
  readonly grant: string;
  readonly cursor: string;
}

let before: Relay;
let during: Relay;
let after: Relay;
let application: TestApplication;
let restricted: string;
let profileId: string;

beforeAll(async () => {
  before = await startRelay({ settings: OLD });
  during = await startRelay({ sameDeploymentAs: before, settings: { ...NEW, ...PREVIOUS } });
  after = await startRelay({ sameDeploymentAs: before, settings: NEW });
  application = await anApplication(before);
  for (let count = 0; count < 2; count += 1) await aProfile(before, application);
  profileId = (await aProfile(before, application)).id;
  restricted = (await aKey(before, application, { scope: "restricted" })).secret;
});
afterAll(async () => {
  for (const relay of [before, during, after]) await relay.stop();
});

async function giveOut(relay: Relay): Promise<GivenOut> {
  const { key, platform } = application;
  const body = { email: platform.email, password: "a password of some length" };
  const { token: session } = dataOf(await relay.call("POST", "/v1/auth/login", { body }));
  const minted = await relay.call("POST", "/v1/profile-grants", { key, body: { profileId } });
  const listed = await relay.call("GET", "/v1/profiles?limit=1", { key });
  return { session, grant: dataOf(minted).token, cursor: listed.body.page.nextCursor };
}

async function takes(relay: Relay, { session, grant, cursor }: GivenOut) {
  const { key } = application;
  const page = `/v1/profiles?limit=1&cursor=${cursor}`;
  const headers = { "x-profile-grant": grant };
  const answers = {
    session: await relay.call("GET", "/v1/me", { session }),
    grant: await relay.call("GET", `/v1/profiles/${profileId}`, { key: restricted, headers }),
    cursor: await relay.call("GET", page, { key }),
  };
  return Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]));
}

const ALL_TAKEN = { session: 200, grant: 200, cursor: 200 };
const NONE_TAKEN = { session: 401, grant: 401, cursor: 400 };

describe("while the session and grant secrets are rotated", () => {
  test("what was signed before is taken by instances that name the previous secret", async () => {
    expect(await takes(during, await giveOut(before))).toEqual(ALL_TAKEN);
  });

  test("what is signed is signed with the new one", async () => {
    const given = await giveOut(during);
    expect(await takes(after, given)).toEqual(ALL_TAKEN);
    expect(await takes(before, given)).toEqual(NONE_TAKEN);
  });

  test("nothing signed before is taken once the previous secret is dropped", async () => {
    expect(await takes(after, await giveOut(before))).toEqual(NONE_TAKEN);
  });
});
