import { describe, expect, test } from "vitest";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import type { Answer } from "../setup/relay.ts";
import { Browser, locationOf } from "./browser.ts";
import { anOwner, BASE, openWorld } from "./world.ts";
import { forFile } from "../setup/for-file.ts";

const RETURN_URL = "https://app.customer.example.org/back";
/** Instead of the network's own pages, as a developer's machine has them. */
const INSTAGRAM_STAND_IN = "http://127.0.0.1:9";

const world = forFile(() => openWorld(DEMO_APPS, { "www.instagram.com": INSTAGRAM_STAND_IN }));
const owner = forFile(() => anOwner(world));

async function pageOf(browser: Browser, platforms: readonly NetworkName[]): Promise<Answer> {
  const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const body = { platforms, returnUrl: RETURN_URL };
  const made = await world.relay.call("POST", path, { key: owner.key, body });
  return await browser.get(made.body.data.connectUrl);
}

/** What the page's policy lets its forms lead to. */
function targetsOf({ headers }: Answer): string[] {
  const policy = headers.get("content-security-policy") ?? "";
  return (/form-action ([^;]+)/.exec(policy)?.[1] ?? "").split(" ");
}

const own = () => ["'self'", new URL(BASE).origin, world.sandbox.url];

describe("the forms of the page lead", () => {
  test("the forms of the page lead to the pages of the networks that are offered, and to no other address", async () => {
    const browser = new Browser(world);
    expect(targetsOf(await pageOf(browser, ["instagram"]))).toEqual([...own(), INSTAGRAM_STAND_IN]);
    const several = targetsOf(await pageOf(browser, ["facebook", "instagram", "linkedin"]));
    expect(several).toContain("https://m.facebook.com");
    for (const target of several)
      expect(target).toMatch(/^(?:'self'|https?:\/\/[\w.-]+(?::\d+)?)$/);
  });

  test.each<NetworkName>(["bluesky", "mastodon"])(
    "anywhere by https where a person names the server, as for %s",
    async (network) => {
      const targets = targetsOf(await pageOf(new Browser(world), ["instagram", network]));
      expect(targets).toEqual(expect.arrayContaining([...own(), "https:"]));
    },
  );

  test.each<readonly [NetworkName, Readonly<Record<string, string>>]>([
    ["facebook", {}],
    ["instagram", {}],
    ["linkedin", { kind: "member" }],
    ["mastodon", { instance: "mastodon.sandbox.test" }],
  ])("where %s is linked: its policy names that place", async (network, typed) => {
    const browser = new Browser(world);
    const page = await pageOf(browser, [network]);
    const started = await browser.submit(page, network, typed);
    expect(started.status).toBe(303);
    expect(targetsOf(page)).toContain(new URL(locationOf(started)).origin);
  });

  test("the forms of the page lead to our own pages and the customer's where nothing but a form of ours is filled in", async () => {
    const hosted = "https://relay.example.com/api";
    const withoutApp = await openWorld({ ...DEMO_APPS, PUBLIC_BASE_URL: hosted });
    expect(withoutApp.services.config.networkApps["bluesky"]).toBeUndefined();
    const { key, profileId } = await anOwner(withoutApp);
    const made = await withoutApp.relay.call("POST", `/v1/profiles/${profileId}/connect/sessions`, {
      key,
      body: { platforms: ["bluesky"], returnUrl: RETURN_URL },
    });
    const { connectUrl } = made.body.data as { connectUrl: string };
    const page = await withoutApp.relay.call("GET", connectUrl.slice(hosted.length));
    expect(targetsOf(page)).toEqual([
      "'self'",
      "https://relay.example.com",
      withoutApp.sandbox.url,
    ]);
    await withoutApp.close();
  });
});
