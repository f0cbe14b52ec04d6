import { describe, expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { aKey, anApplication, aProfile } from "../setup/factories.ts";
import type { TestApplication } from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { idsOf, useProfiles } from "./profile-calls.ts";

let relay: Relay;
let application: TestApplication;

const { read, patch } = useProfiles((fresh) => {
  ({ relay, application } = fresh);
});

test("an answer that something is not there says by which part of the request", async () => {
  const { id } = await aProfile(relay, application);
  const other = await aProfile(relay, await anApplication(relay));
  const absent = `pst_${"0".repeat(26)}`;
  const told = async (path: string, profile?: string) => {
    const headers = profile === undefined ? {} : { "x-profile-id": profile };
    const { status, body } = await relay.call("GET", path, { key: application.key, headers });
    expect([path, status]).toEqual([path, 404]);
    return body.error.message;
  };
  const byHeader = "There is no such resource: check the X-Profile-Id header.";
  for (const profile of ["nope", `prf_${"0".repeat(26)}`, other.id])
    for (const path of ["/v1/posts", `/v1/posts/${absent}`])
      expect(await told(path, profile)).toBe(byHeader);
  const byPath = (name: string) => `There is no such resource: check \`${name}\` in the path.`;
  expect(await told(`/v1/posts/${absent}`, id)).toBe(byPath("postId"));
  expect(await told("/v1/profiles/nope")).toBe(byPath("profileId"));
  expect(await told(`/v1/profiles/${other.id}`)).toBe(byPath("profileId"));
  expect(await told(`/v1/applications/${application.id}/posts/${absent}`)).toBe(
    "There is no such resource: check `applicationId` and `postId` in the path.",
  );
});

describe("restricted keys", () => {
  async function aRestrictedKey(allowed: readonly { readonly id: string }[]) {
    const allowedProfileIds = allowed.map(({ id }) => id);
    return (await aKey(relay, application, { scope: "restricted", allowedProfileIds })).secret;
  }

  test("see and change the profiles of their allowlist and no other", async () => {
    const [mine, other] = [await aProfile(relay, application), await aProfile(relay, application)];
    const key = await aRestrictedKey([mine]);
    expect((await read(mine.id, key)).status).toBe(200);
    expect((await patch(mine.id, { title: "Mine" }, key)).status).toBe(200);
    for (const answer of [await read(other.id, key), await patch(other.id, { title: "x" }, key)])
      expect([answer.status, answer.body.error.code]).toEqual([403, "profile_not_allowed"]);
    const absent = await read(`prf_${"0".repeat(26)}`, key);
    expect([absent.status, absent.body.error.code]).toEqual([404, "not_found"]);
  });

  test("list only their allowlist, page by page; foreign ids in it show nothing", async () => {
    const profiles = [];
    for (let index = 0; index < 5; index += 1) profiles.unshift(await aProfile(relay, application));
    const [, second, third, , fifth] = profiles;
    const foreign = await aProfile(relay, await anApplication(relay));
    const sibling = await aProfile(relay, await anApplication(relay, application.platform));
    const allowed = [fifth, second, third, foreign, sibling].filter(
      (profile) => profile !== undefined,
    );
    const key = await aRestrictedKey([...allowed, { id: "prf_malformed" }]);
    const first = await relay.call("GET", "/v1/profiles?limit=2", { key });
    expect(idsOf(first)).toEqual([second?.id, third?.id]);
    const path = `/v1/profiles?limit=2&cursor=${first.body.page.nextCursor}`;
    const rest = await relay.call("GET", path, { key });
    expect(idsOf(rest)).toEqual([fifth?.id]);
    expect(rest.body.page.hasMore).toBe(false);
    expect(
      idsOf(await relay.call("GET", "/v1/profiles", { key: await aRestrictedKey([]) })),
    ).toEqual([]);
  });

  test("find by externalId only what their allowlist holds", async () => {
    const mine = await aProfile(relay, application, { externalId: "listed" });
    await aProfile(relay, application, { externalId: "hidden" });
    const key = await aRestrictedKey([mine]);
    const list = (query: string) => relay.call("GET", `/v1/profiles?${query}`, { key });
    expect(idsOf(await list("externalId=listed"))).toEqual([mine.id]);
    expect(idsOf(await list("externalId=hidden"))).toEqual([]);
  });
});

describe("naming the profile", () => {
  const posts = (key: string, headers: Record<string, string>) =>
    relay.call("GET", "/v1/posts", { key, headers });

  test("a route of a profile needs the header, under either of its names", async () => {
    const { id } = await aProfile(relay, application);
    const { key } = application;
    for (const name of ["X-Profile-Id", "Profile-Id"])
      expect((await posts(key, { [name]: id })).status).toBe(200);
    const missing = await posts(key, {});
    expect([missing.status, missing.body.error.code]).toEqual([400, "profile_header_required"]);
  });

  test("a profile of another application or tenant and an unknown one are 404", async () => {
    const sibling = await aProfile(relay, await anApplication(relay, application.platform));
    const foreign = await aProfile(relay, await anApplication(relay));
    const { key } = application;
    const answers = [
      await posts(key, { "x-profile-id": sibling.id }),
      await posts(key, { "x-profile-id": foreign.id }),
      await posts(key, { "x-profile-id": `prf_${"0".repeat(26)}` }),
      await posts(key, { "x-profile-id": "prf_x" }),
    ];
    const bodies = answers.map(({ status, body }) => {
      const { requestId: _, ...error } = body.error;
      return JSON.stringify([status, error]);
    });
    expect(new Set(bodies).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    expect((await read(sibling.id)).status).toBe(404);
  });

  test("a header and a path that name different profiles are told so, whether these exist or not", async () => {
    const mine = await aProfile(relay, application);
    const foreign = await aProfile(relay, await anApplication(relay));
    const { key } = application;
    const unknown = `prf_${"0".repeat(26)}`;
    const pairs = [
      [foreign.id, mine.id],
      [mine.id, foreign.id],
      [unknown, mine.id],
      [mine.id, unknown],
      ["prf_x", "prf_y"],
    ] as const;
    const named = routes.filter((route) => route.path.includes("{profileId}"));
    expect(named.length).toBeGreaterThan(6);
    const routesOf = (id: string) =>
      named.map(({ method, path }) => {
        const filled = path.replace("{profileId}", id).replaceAll(/\{\w+\}/g, "x_1");
        return [method, `/${filled}`] as const;
      });
    for (const [header, path] of pairs) {
      for (const name of ["X-Profile-Id", "Profile-Id"])
        for (const [method, route] of routesOf(path))
          expect(
            await relay.call(method, route, { key, headers: { [name]: header } }),
          ).toMatchObject({
            status: 400,
            body: { error: { code: "profile_header_mismatch", details: { header, path } } },
          });
    }
    const headers = { "x-profile-id": mine.id };
    expect((await relay.call("GET", `/v1/profiles/${mine.id}`, { key, headers })).status).toBe(200);
    const stranger = await relay.call("GET", `/v1/profiles/${mine.id}`, {
      key: `${key.slice(0, -1)}!`,
      headers: { "x-profile-id": foreign.id },
    });
    expect(stranger.status).toBe(401);
  });

  test("a session may act for any profile of its platform, within the application it names", async () => {
    const { session } = application.platform;
    const sibling = await anApplication(relay, application.platform);
    const profile = await aProfile(relay, sibling);
    const get = (headers: Record<string, string>) =>
      relay.call("GET", `/v1/profiles/${profile.id}`, { session, headers });
    expect((await get({})).status).toBe(200);
    expect((await get({ "x-application-id": sibling.id })).status).toBe(200);
    expect((await get({ "x-application-id": application.id })).status).toBe(404);
  });

  test("a session can't publish in a disabled application", async () => {
    const own = await anApplication(relay, application.platform);
    const { id } = await aProfile(relay, own);
    const { session } = application.platform;
    const body = { status: "disabled" };
    await relay.call("PATCH", `/v1/applications/${own.id}`, { session, body });
    const headers = { "x-profile-id": id };
    const draft = { text: "Hello", platforms: ["bluesky"] };
    const answer = await relay.call("POST", "/v1/posts/validate", {
      session,
      headers,
      body: draft,
    });
    expect([answer.status, answer.body.error.code]).toEqual([403, "application_disabled"]);
  });
});

describe("profile grants", () => {
  const mint = (profileId: string, call: object = { key: application.key }, more: object = {}) =>
    relay.call("POST", "/v1/profile-grants", { ...call, body: { profileId, ...more } });
  const readWith = (key: string, profileId: string, grant: string) =>
    relay.call("GET", `/v1/profiles/${profileId}`, { key, headers: { "x-profile-grant": grant } });

  async function outcome(key: string, profileId: string, grant: string): Promise<string> {
    const { status, body } = await readWith(key, profileId, grant);
    return status === 200 ? "ok" : `${status} ${body.error.code}`;
  }

  const restrictedKey = async (of = application) =>
    (await aKey(relay, of, { scope: "restricted" })).secret;

  test("let a restricted key act on the one profile, and end", async () => {
    const profile = await aProfile(relay, application);
    const other = await aProfile(relay, application);
    const key = await restrictedKey();
    const { status, body } = await mint(profile.id);
    expect(status).toBe(201);
    expect(body.data).toEqual({
      token: expect.any(String),
      profileId: profile.id,
      applicationId: application.id,
      expiresIn: 900,
      expiresAt: expect.stringMatching(/Z$/),
      header: "X-Profile-Grant",
    });
    const { token } = body.data;
    expect(await outcome(key, profile.id, token)).toBe("ok");
    expect(await outcome(key, other.id, token)).toBe("401 invalid_grant_token");
    relay.advance(900_000 - 2_000);
    expect(await outcome(key, profile.id, token)).toBe("ok");
    relay.advance(10_000);
    expect(await outcome(key, profile.id, token)).toBe("401 invalid_grant_token");
  });

  test.each([
    [60, 201],
    [7_200, 201],
    [59, 400],
    [7_201, 400],
    [90.5, 400],
    ["900", 400],
  ])("expiresIn %s answers %i", async (expiresIn, expected) => {
    const profile = await aProfile(relay, application);
    const { status, body } = await mint(profile.id, undefined, { expiresIn });
    expect(status).toBe(expected);
    if (expected === 201) expect(body.data.expiresIn).toBe(expiresIn);
  });

  test("profile grants are minted for own profiles only, by a session too", async () => {
    const sibling = await aProfile(relay, await anApplication(relay, application.platform));
    const foreign = await aProfile(relay, await anApplication(relay));
    for (const { id } of [sibling, foreign, { id: `prf_${"0".repeat(26)}` }])
      expect((await mint(id)).status).toBe(404);
    const { session } = application.platform;
    expect((await mint(sibling.id, { session })).body.data.applicationId).toBe(
      sibling.applicationId,
    );
    expect((await mint(foreign.id, { session })).status).toBe(404);
    const headers = { "x-application-id": application.id };
    expect((await mint(sibling.id, { session, headers })).status).toBe(404);
    const byUser = (await mint((await aProfile(relay, application)).id, { session })).body.data;
    expect(await outcome(await restrictedKey(), byUser.profileId, byUser.token)).toBe("ok");
  });

  test("end with the key that minted them", async () => {
    const profile = await aProfile(relay, application);
    const minter = await aKey(relay, application);
    const { token } = (await mint(profile.id, { key: minter.secret })).body.data;
    const key = await restrictedKey();
    expect(await outcome(key, profile.id, token)).toBe("ok");
    await relay.call("POST", `/v1/keys/${minter.id}/revoke`, { key: application.key });
    expect(await outcome(key, profile.id, token)).toBe("401 invalid_grant_token");
  });

  test("profile grants of another application or tenant are refused", async () => {
    const sibling = await anApplication(relay, application.platform);
    const foreign = await anApplication(relay);
    const key = await restrictedKey();
    const mine = await aProfile(relay, application);
    for (const owner of [sibling, foreign]) {
      const theirs = await aProfile(relay, owner);
      const { token } = (await mint(theirs.id, { key: owner.key })).body.data;
      expect(await outcome(key, theirs.id, token)).toBe("401 invalid_grant_token");
      expect(await outcome(key, mine.id, token)).toBe("401 invalid_grant_token");
    }
  });

  test("profile grants that are no grants are refused, even for a profile of the allowlist", async () => {
    const profile = await aProfile(relay, application);
    const body = { scope: "restricted", allowedProfileIds: [profile.id] };
    const { secret } = await aKey(relay, application, body);
    const { session } = application.platform;
    for (const grant of ["garbage", session, application.key, "a.b.c", "x".repeat(9_000)])
      expect(await outcome(secret, profile.id, grant)).toBe("401 invalid_grant_token");
  });

  test("profile grants are ignored for app_admin keys and sessions", async () => {
    const profile = await aProfile(relay, application);
    expect(await outcome(application.key, profile.id, "garbage")).toBe("ok");
    expect(await outcome(application.platform.session, profile.id, "garbage")).toBe("ok");
  });

  test("profile grants are no credential", async () => {
    const profile = await aProfile(relay, application);
    const { token } = (await mint(profile.id)).body.data;
    const alone = await relay.call("GET", `/v1/profiles/${profile.id}`, {
      headers: { "x-profile-grant": token },
    });
    expect([alone.status, alone.body.error.code]).toEqual([401, "unauthenticated"]);
    expect(await outcome(token, profile.id, token)).toBe("401 invalid_credentials");
  });
});
