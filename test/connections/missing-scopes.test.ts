import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEMO_FACEBOOK_APP, DEMO_PAGE, DEMO_USER } from "../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../sandbox/instagram/state.ts";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import { Browser, locationOf } from "./browser.ts";
import { anOwner, openWorld, type Owner, type World } from "./world.ts";
import { forgetHost } from "../setup/stored.ts";

const APPS = {
  FACEBOOK_APP_ID: DEMO_FACEBOOK_APP.id,
  FACEBOOK_APP_SECRET: DEMO_FACEBOOK_APP.secret,
  INSTAGRAM_APP_ID: DEMO_INSTAGRAM_APP.id,
  INSTAGRAM_APP_SECRET: DEMO_INSTAGRAM_APP.secret,
};
const COMMENTS = { FACEBOOK_COMMENTS: "true", INSTAGRAM_COMMENTS: "true" };
const GATES = [
  "repo:app.bsky.feed.threadgate?action=create&action=delete",
  "repo:app.bsky.feed.postgate?action=create&action=delete",
];

type Form = Readonly<Record<string, string>>;

let world: World;
let owner: Owner;

/** What the hosted page sends to the network, and the connection that comes of what is decided there. */
async function link(network: string, typed: Form, decided: Form) {
  const at = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const made = await world.relay.call("POST", at, {
    key: owner.key,
    body: { platforms: [network] },
  });
  const browser = new Browser(world);
  const page = await browser.get(made.body.data.connectUrl as string);
  const left = locationOf(await browser.submit(page, network, typed));
  const answer = await fetch(left, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision: "allow", ...decided }),
  });
  const callback = answer.headers.get("location") ?? "";
  const back = await browser.get(callback.replace("http://127.0.0.1:", "http://localhost:"));
  expect(back.status).toBeLessThan(400);
  return {
    asked: new URL(left).searchParams.get("scope"),
    connection: await connectionTo(network),
  };
}

async function connectionTo(network: string) {
  const at = `/v1/profiles/${owner.profileId}/connections`;
  const { body } = await world.relay.call("GET", at, { key: owner.key });
  const found = body.data.find(({ platform }: { platform: string }) => platform === network);
  return found as {
    status: string;
    scopes: string[];
    missingScopes: string[];
    unavailableFeatures: string[];
  };
}

/** The text of the hosted page, as the profile's end user finds it now. */
async function shownPage(network: string): Promise<string> {
  const at = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const body = { platforms: [network] };
  const made = await world.relay.call("POST", at, { key: owner.key, body });
  return (await new Browser(world).get(made.body.data.connectUrl as string)).body;
}

function useWorld(settings: Form): void {
  beforeAll(async () => {
    world = await openWorld({ ...APPS, ...settings });
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    world.sandbox.reset();
    await forgetHost(world.services, "mastodon.sandbox.test");
    owner = await anOwner(world);
  });
}

const may = (...names: readonly string[]): Form => ({
  asked: "yes",
  ...Object.fromEntries(names.map((name) => [`may_${name}`, "yes"])),
});
const PAGES = ["pages_show_list", "pages_read_engagement", "pages_manage_posts"];
const ON_PAGE = { account: DEMO_USER, [`page_${DEMO_PAGE}`]: "yes" };

describe("permissions for comments, once the settings say that the apps have them", () => {
  useWorld(COMMENTS);

  test.each([
    [
      "facebook",
      ["pages_manage_engagement", "pages_read_user_content"],
      { ...may(...PAGES, "pages_manage_engagement", "pages_read_user_content"), ...ON_PAGE },
      { ...may(...PAGES), ...ON_PAGE },
    ],
    [
      "instagram",
      ["instagram_business_manage_comments"],
      {},
      may("instagram_business_basic", "instagram_business_content_publish"),
    ],
  ])("%s is asked for %s, and an account that lacks it is linked", async (...args) => {
    const [network, scopes, all, less] = args;
    const declined = await link(network, {}, less);
    expect(declined.asked?.split(",")).toEqual(expect.arrayContaining(scopes));
    expect(declined.connection).toMatchObject({
      status: "active",
      missingScopes: scopes,
      unavailableFeatures: ["firstComment"],
    });
    expect(await shownPage(network)).toMatch(/A permission is missing[^]*Connect \w+ again/);
    const granted = await link(network, {}, all);
    expect(granted.connection).toMatchObject({
      status: "active",
      missingScopes: [],
      unavailableFeatures: [],
    });
    expect(await shownPage(network)).not.toContain("A permission is missing");
    expect(granted.connection.scopes).toEqual(expect.arrayContaining(scopes));
  });

  test("events tell it as the list does", async () => {
    await link(
      "instagram",
      {},
      may("instagram_business_basic", "instagram_business_content_publish"),
    );
    await world.relay.drain();
    // An event is listed once no other that is older can still be written.
    world.relay.advance(16_000);
    const { body } = await world.relay.call("GET", "/v1/events", { key: owner.key });
    const linked = body.data.findLast(({ type }: { type: string }) => type === "connection.linked");
    expect(linked).toMatchObject({
      data: { connection: { missingScopes: ["instagram_business_manage_comments"] } },
    });
  });
});

describe("permissions for what is to come", () => {
  useWorld({});

  test("an app of Meta's is asked for nothing that it may not have", async () => {
    const facebook = await link("facebook", {}, { ...may(...PAGES), ...ON_PAGE });
    expect(facebook.asked).not.toContain("pages_manage_engagement");
    // Nothing that linking again would help.
    expect(facebook.connection).toMatchObject({
      missingScopes: [],
      unavailableFeatures: ["firstComment"],
    });
    expect(await shownPage("facebook")).not.toContain("A permission is missing");
    const instagram = await link("instagram", {}, {});
    expect(instagram.asked).not.toContain("comments");
    expect(instagram.connection.missingScopes).toEqual([]);
  });

  test("Mastodon is asked for search", async () => {
    const typed = { instance: "mastodon.sandbox.test" };
    const less = await link("mastodon", typed, { granted: "profile write:statuses write:media" });
    expect(less.asked).toBe("profile write:statuses write:media read:search");
    expect(less.connection).toMatchObject({ status: "active", missingScopes: ["read:search"] });
    const all = await link("mastodon", typed, {});
    expect(all.connection).toMatchObject({ status: "active", missingScopes: [] });
  });

  test("Bluesky is asked for deleting posts and for gates", async () => {
    const typed = { identifier: DEMO_HANDLE };
    const all = await link("bluesky", typed, {});
    expect(all.connection).toMatchObject({ status: "active", missingScopes: [] });
    const whole = all.connection.scopes;
    expect(whole).toEqual(expect.arrayContaining(GATES));
    const fewer = whole.filter((scope) => !GATES.includes(scope));
    const less = await link("bluesky", typed, { granted: fewer.join(" ") });
    expect(less.connection).toMatchObject({
      status: "active",
      missingScopes: GATES,
      unavailableFeatures: [],
    });
    const DELETION = "repo:app.bsky.feed.post?action=delete";
    const kept = whole
      .filter((scope) => !scope.startsWith("repo:app.bsky.feed.post?"))
      .concat("repo:app.bsky.feed.post?action=create&action=update");
    const unable = await link("bluesky", typed, { granted: kept.join(" ") });
    expect(unable.connection).toMatchObject({
      status: "active",
      missingScopes: [DELETION],
      unavailableFeatures: ["remove"],
    });
  });

  test("an app password lacks nothing", async () => {
    const at = `/v1/profiles/${owner.profileId}/connect/sessions`;
    const body = { platforms: ["bluesky"] };
    const made = await world.relay.call("POST", at, { key: owner.key, body });
    const browser = new Browser(world);
    const typed = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
    await browser.submit(await browser.get(made.body.data.connectUrl as string), "bluesky", typed);
    expect(await connectionTo("bluesky")).toMatchObject({ scopes: [], missingScopes: [] });
  });
});
