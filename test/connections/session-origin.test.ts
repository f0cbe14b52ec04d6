import { beforeEach, describe, expect, test } from "vitest";
import { DEMO_FACEBOOK_APP, DEMO_PAGE } from "../../sandbox/facebook/state.ts";
import { BLUESKY } from "../http/connect-calls.ts";
import { aKey, dataOf, outcomeOf, PASSWORD, type TestKey } from "../setup/factories.ts";
import { startRelay, type Answer, type CallOptions } from "../setup/relay.ts";
import { Browser, decide, formsOf, locationOf, readable } from "./browser.ts";
import { anOwner, anotherProfile, balance, openWorld, type Owner } from "./world.ts";
import { forgetHost } from "../setup/stored.ts";
import { forFile } from "../setup/for-file.ts";

const DAY = 24 * 3_600_000;
const ENDED = "This link has ended";

/** Another instance of the deployment, which answers what takes access away. */
let owner: Owner;

const world = forFile(() =>
  openWorld({
    FACEBOOK_APP_ID: DEMO_FACEBOOK_APP.id,
    FACEBOOK_APP_SECRET: DEMO_FACEBOOK_APP.secret,
  }),
);
const elsewhere = forFile(() => startRelay({ sameDeploymentAs: world.relay }));
beforeEach(async () => {
  world.intercept(undefined);
  world.sandbox.reset();
  await forgetHost(world.services, "mastodon.sandbox.test");
  owner = await anOwner(world);
});

const sessionsPath = (by: Owner = owner) => `/v1/profiles/${by.profileId}/connect/sessions`;
const withOwnKey = () => ({ key: owner.key });

/** Starts a session for two networks, so that linking one leaves it open. */
async function start(call: CallOptions) {
  const body = { platforms: ["bluesky", "mastodon", "facebook"], expiresIn: 172_800 };
  return dataOf(await world.relay.call("POST", sessionsPath(), { ...call, body }));
}

async function connections(): Promise<readonly { readonly status: string }[]> {
  const path = `/v1/profiles/${owner.profileId}/connections`;
  return dataOf(await world.relay.call("GET", path, withOwnKey()));
}

const read = async ({ id }: { readonly id: string }) =>
  dataOf(await world.relay.call("GET", `/v1/connect/sessions/${id}`, withOwnKey()));

async function openIds(call: CallOptions = withOwnKey(), query = ""): Promise<string[]> {
  const answer = await world.relay.call("GET", `${sessionsPath()}${query}`, call);
  return dataOf(answer).map(({ id }: { readonly id: string }) => id);
}

async function take(method: string, path: string, call: CallOptions = withOwnKey()) {
  expect((await elsewhere.call(method, path, call)).status).toBeLessThan(300);
}

interface Made {
  /** The credential that starts the session. */
  readonly call: CallOptions;
  readonly end: () => Promise<void> | void;
}

const asKey = ({ secret }: TestKey, headers?: Readonly<Record<string, string>>): CallOptions => ({
  key: secret,
  ...(headers === undefined ? {} : { headers }),
});

let colleagues = 0;
async function aColleague() {
  colleagues += 1;
  const { session } = owner.application.platform;
  const email = `colleague-${colleagues}@session-origin.example.com`;
  const body = { email, password: PASSWORD };
  const { id } = dataOf(await world.relay.call("POST", "/v1/users", { session, body }));
  const another = async (): Promise<CallOptions> => {
    const { token } = dataOf(await world.relay.call("POST", "/v1/auth/login", { body }));
    return { session: token };
  };
  const remove = () => take("DELETE", `/v1/users/${id}`, { session });
  return { call: await another(), another, id, remove };
}

/** A restricted key that may act for the profile by a grant alone. */
async function withGrant(minter: CallOptions): Promise<CallOptions> {
  const restricted = await aKey(world.relay, owner.application, { scope: "restricted" });
  const body = { profileId: owner.profileId };
  const grant = dataOf(await world.relay.call("POST", "/v1/profile-grants", { ...minter, body }));
  return asKey(restricted, { "x-profile-grant": grant.token });
}

const key = (more: Readonly<Record<string, unknown>> = {}) =>
  aKey(world.relay, owner.application, more);

/** Those who may start a session, and how they go. */
const ORIGINS: Readonly<Record<string, () => Promise<Made>>> = {
  "a key that is revoked": async () => {
    const made = await key();
    return { call: asKey(made), end: () => take("POST", `/v1/keys/${made.id}/revoke`) };
  },
  "a key that is deleted": async () => {
    const made = await key();
    return { call: asKey(made), end: () => take("DELETE", `/v1/keys/${made.id}`) };
  },
  "a key that expires": async () => {
    const expiresAt = new Date(world.relay.clock.now().getTime() + DAY).toISOString();
    return { call: asKey(await key({ expiresAt })), end: () => world.relay.advance(DAY) };
  },
  "a key whose maker's descendants are revoked": async () => {
    const maker = await key();
    const body = { name: "Made by a key" };
    const made = dataOf(await world.relay.call("POST", "/v1/keys", { ...asKey(maker), body }));
    const path = `/v1/keys/${maker.id}/revoke?descendants=true`;
    return { call: asKey(made), end: () => take("POST", path) };
  },
  "a key under a grant whose minting key is revoked": async () => {
    const minter = await key();
    const call = await withGrant(asKey(minter));
    return { call, end: () => take("POST", `/v1/keys/${minter.id}/revoke`) };
  },
  "a key under a grant whose minting user is removed": async () => {
    const { call, remove } = await aColleague();
    return { call: await withGrant(call), end: remove };
  },
  "a user who logs out everywhere": async () => {
    const { call, another } = await aColleague();
    return { call, end: async () => take("POST", "/v1/auth/logout", await another()) };
  },
  "a user who ends that session alone, and ends others after it has expired": async () => {
    const { call, another } = await aColleague();
    const body = { everywhere: false };
    const end = async () => {
      await take("POST", "/v1/auth/logout", { ...call, body });
      world.relay.advance(DAY);
      await take("POST", "/v1/auth/logout", { ...(await another()), body });
    };
    return { call, end };
  },
  "a user who changes the password in another session": async () => {
    const { call, another } = await aColleague();
    const body = { currentPassword: PASSWORD, newPassword: "violet marmot 7 teacups" };
    return {
      call,
      end: async () => take("POST", "/v1/auth/password", { ...(await another()), body }),
    };
  },
  "a user who sets a password with a reset link": async () => {
    const { call, id } = await aColleague();
    const path = `/v1/admin/platforms/${owner.application.platform.id}/users/${id}/reset-link`;
    const made = { operator: ["Admin"], body: {} };
    const { url } = dataOf(await world.relay.call("POST", path, made));
    const token = new URL(url).searchParams.get("token");
    const body = { token, newPassword: "violet marmot 7 teacups" };
    return { call, end: () => take("POST", "/v1/auth/reset/confirm", { body }) };
  },
  "a user who sets a password on the page of a reset link": async () => {
    const { call, id } = await aColleague();
    const path = `/v1/admin/platforms/${owner.application.platform.id}/users/${id}/reset-link`;
    const { url } = dataOf(await world.relay.call("POST", path, { operator: ["Admin"], body: {} }));
    const token = new URL(url).searchParams.get("token") ?? "";
    const form = new URLSearchParams({ token, password: "violet marmot 7 teacups" });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const sent = { rawBody: form.toString(), headers };
    return { call, end: () => take("POST", "/v1/auth/ui/reset", sent) };
  },
  "a key under a grant whose minting session is ended": async () => {
    const { call } = await aColleague();
    const end = () => take("POST", "/v1/auth/logout", { ...call, body: { everywhere: false } });
    return { call: await withGrant(call), end };
  },
  "a user who is removed": async () => {
    const { call, remove } = await aColleague();
    return { call, end: remove };
  },
};

/** A browser somewhere on the way to a linked account, and its last step. */
const STEPS: Readonly<Record<string, (url: string) => Promise<() => Promise<Answer>>>> = {
  "that opens the page": async (url) => () => new Browser(world).get(url),
  "that sends a form": async (url) => {
    const browser = new Browser(world);
    const page = await browser.get(url);
    return () => browser.submit(page, "bluesky", BLUESKY);
  },
  "that begins at a network's page": async (url) => {
    const browser = new Browser(world);
    const page = await browser.get(url);
    return () => browser.submit(page, "facebook", {});
  },
  "that comes back from a network": async (url) => {
    const browser = new Browser(world);
    const page = await browser.get(url);
    const form = { instance: "mastodon.sandbox.test" };
    const callback = await decide(
      locationOf(await browser.submit(page, "mastodon", form)),
      "allow",
    );
    return () => browser.get(callback);
  },
  "that chooses one of several accounts": async (url) => {
    const browser = new Browser(world);
    const page = await browser.get(url);
    const callback = await decide(locationOf(await browser.submit(page, "facebook", {})), "allow");
    const choice = await browser.follow(await browser.get(callback.split("#")[0] ?? ""));
    const form = formsOf(choice.body).find(({ fields }) => "choice" in fields);
    if (form === undefined) throw new Error(`no choice: ${readable(choice.body)}`);
    return () => browser.post(form.action, { ...form.fields, candidate: DEMO_PAGE });
  },
};

describe.each(Object.entries(ORIGINS))("a connect session of %s", (_name, makeOrigin) => {
  test.each(Object.entries(STEPS))("links nothing for a browser %s", async (_step, walk) => {
    const { call, end } = await makeOrigin();
    const made = await start(call);
    const step = await walk(made.connectUrl);
    await end();
    const sent = world.sandbox.requests().length;
    const answer = await step();
    expect(answer.status).toBe(410);
    expect(readable(answer.body)).toContain(ENDED);
    expect(world.sandbox.requests()).toHaveLength(sent);
    expect(await connections()).toEqual([]);
    expect(await balance(world, owner)).toBe(100);
  });

  test("a connect session whose origin is gone is canceled when it is read, not listed, and can't be canceled again", async () => {
    const { call, end } = await makeOrigin();
    const made = await start(call);
    expect(await openIds()).toEqual([made.id]);
    await end();
    expect(await read(made)).toMatchObject({ status: "canceled", createdBy: made.createdBy });
    expect(await openIds()).toEqual([]);
    const path = `/v1/connect/sessions/${made.id}/cancel`;
    const answer = await world.relay.call("POST", path, withOwnKey());
    expect(outcomeOf(answer)).toBe("409 invalid_state");
    expect(answer.body.error.message).toContain("canceled");
  });
});

describe("a session whose origin goes while an account is being linked", () => {
  test.each(["bluesky", "mastodon"])(
    "links none at %s, and gives the tokens back",
    async (network) => {
      const made = await key();
      const { connectUrl } = await start(asKey(made));
      const browser = new Browser(world);
      const page = await browser.get(connectUrl);
      const step =
        network === "bluesky"
          ? () => browser.submit(page, "bluesky", BLUESKY)
          : await STEPS["that comes back from a network"]?.(connectUrl);
      let ended = false;
      world.intercept(async (request, send) => {
        const answer = await send(request);
        if (/createSession|verify_credentials/.test(request.url) && !ended) {
          ended = true;
          await take("POST", `/v1/keys/${made.id}/revoke`);
        }
        return answer;
      });
      const answer = await step?.();
      expect([ended, answer?.status]).toEqual([true, 410]);
      expect(readable(answer?.body ?? "")).toContain(ENDED);
      expect(await connections()).toEqual([]);
      expect(await balance(world, owner)).toBe(100);
    },
  );
});

test("a user who logs out while an account is being linked links none", async () => {
  const { call } = await aColleague();
  const { connectUrl } = await start(call);
  const browser = new Browser(world);
  const page = await browser.get(connectUrl);
  let ended = false;
  world.intercept(async (request, send) => {
    const answer = await send(request);
    if (request.url.includes("createSession") && !ended) {
      ended = true;
      await take("POST", "/v1/auth/logout", call);
    }
    return answer;
  });
  const answer = await browser.submit(page, "bluesky", BLUESKY);
  expect([ended, answer.status]).toEqual([true, 410]);
  expect(await connections()).toEqual([]);
});

describe("a session stays open", () => {
  test("a session stays open after another session of its user was ended alone", async () => {
    const { call, another } = await aColleague();
    const made = await start(call);
    const body = { everywhere: false };
    await take("POST", "/v1/auth/logout", { ...(await another()), body });
    expect((await new Browser(world).get(made.connectUrl)).status).toBe(200);
    expect(await openIds()).toEqual([made.id]);
  });

  test("a session stays open after its user's session has expired", async () => {
    const { call } = await aColleague();
    const made = await start(call);
    world.relay.advance(DAY);
    expect(outcomeOf(await world.relay.call("GET", "/v1/me", call))).toBe("401 session_expired");
    expect((await new Browser(world).get(made.connectUrl)).status).toBe(200);
  });

  test("a session stays open after the session that started it has changed the password", async () => {
    const { call } = await aColleague();
    const made = await start(call);
    const body = { currentPassword: PASSWORD, newPassword: "violet marmot 7 teacups" };
    await take("POST", "/v1/auth/password", { ...call, body });
    expect((await new Browser(world).get(made.connectUrl)).status).toBe(200);
  });

  test("a session stays open after the grant has expired under which it was started", async () => {
    const made = await start(await withGrant(withOwnKey()));
    world.relay.advance(3 * 3_600_000);
    expect((await new Browser(world).get(made.connectUrl)).status).toBe(200);
  });

  test("a session stays open when other keys are revoked", async () => {
    const [mine, other] = [await key(), await key()];
    const made = await start(asKey(mine));
    await take("POST", `/v1/keys/${other.id}/revoke?descendants=true`);
    expect(await openIds()).toEqual([made.id]);
    expect(await read(made)).toMatchObject({
      status: "open",
      createdBy: { kind: "api_key", id: mine.id },
    });
  });
});

describe("the list of open sessions", () => {
  test("the list of open sessions has them newest first, page by page, without their addresses", async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      made.unshift((await start(withOwnKey())).id);
      world.relay.advance(1_000);
    }
    const first = await world.relay.call("GET", `${sessionsPath()}?limit=2`, withOwnKey());
    expect(JSON.stringify(first.body)).not.toMatch(/connectUrl|token=/);
    expect(first.body.data[0]).toMatchObject({
      profileId: owner.profileId,
      status: "open",
      createdBy: { kind: "api_key", id: owner.application.keyId },
      connections: [],
    });
    const pages = [dataOf(first)];
    let { page } = first.body;
    while (page.hasMore) {
      const query = `?limit=2&cursor=${page.nextCursor}`;
      const answer = await world.relay.call("GET", `${sessionsPath()}${query}`, withOwnKey());
      pages.push(dataOf(answer));
      ({ page } = answer.body);
    }
    expect(pages.map((items) => items.map(({ id }: { id: string }) => id))).toEqual([
      made.slice(0, 2),
      made.slice(2, 4),
      made.slice(4),
    ]);
  });

  test("leaves out sessions that were canceled, completed or expired", async () => {
    const [open, canceled] = [await start(withOwnKey()), await start(withOwnKey())];
    const body = { platforms: ["bluesky"] };
    const completed = dataOf(
      await world.relay.call("POST", sessionsPath(), { ...withOwnKey(), body }),
    );
    const browser = new Browser(world);
    await browser.submit(await browser.get(completed.connectUrl), "bluesky", BLUESKY);
    expect(await read(completed)).toMatchObject({ status: "completed" });
    const short = { platforms: ["bluesky"], expiresIn: 300 };
    await world.relay.call("POST", sessionsPath(), { ...withOwnKey(), body: short });
    await world.relay.call("POST", `/v1/connect/sessions/${canceled.id}/cancel`, withOwnKey());
    world.relay.advance(300_000);
    expect(await openIds()).toEqual([open.id]);
    world.relay.advance(2 * DAY);
    expect(await openIds()).toEqual([]);
  });

  test("the list of open sessions is of one profile, and for those alone who may act for it", async () => {
    const other = await anotherProfile(world, owner);
    const made = await start(withOwnKey());
    const theirs = await world.relay.call("POST", sessionsPath(other), {
      ...withOwnKey(),
      body: {},
    });
    expect(await openIds()).toEqual([made.id]);
    const allowed = await key({ scope: "restricted", allowedProfileIds: [owner.profileId] });
    expect(await openIds(asKey(allowed))).toEqual([made.id]);
    const refused = await world.relay.call("GET", sessionsPath(other), asKey(allowed));
    expect(outcomeOf(refused)).toBe("403 profile_not_allowed");
    const stranger = await anOwner(world);
    const hidden = await world.relay.call("GET", sessionsPath(), { key: stranger.key });
    expect(outcomeOf(hidden)).toBe("404 not_found");
    const page = await world.relay.call("GET", `${sessionsPath(other)}?limit=1`, withOwnKey());
    expect(dataOf(page)).toMatchObject([{ id: dataOf(theirs).id }]);
  });
});
