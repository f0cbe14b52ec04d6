import { expect, test } from "vitest";
import { Browser, locationOf, readable } from "./browser.ts";
import { anOwner, openWorld } from "./world.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { forFile } from "../setup/for-file.ts";

const world = forFile(() => openWorld(DEMO_APPS));

const REPORT = "a network refuses the app";
const reports = () => world.relay.logLines.filter((line) => line.includes(REPORT)).length;

/** Opens the page of a new customer, and goes to the network's own. */
async function leave(network: "instagram" | "linkedin") {
  const owner = await anOwner(world);
  const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const call = { key: owner.key, body: { platforms: [network] } };
  const session = await world.relay.call("POST", path, call);
  const browser = new Browser(world);
  const page = await browser.get(session.body.data.connectUrl as string);
  return { browser, authorize: locationOf(await browser.submit(page, network, {})) };
}

test("an app that takes its testers' accounts alone is told to the person and to the operator", async () => {
  world.sandbox.fault("instagram", "accessToken", "answer:developer-role");
  const { browser, authorize } = await leave("instagram");
  const body = new URLSearchParams({ decision: "allow" });
  const allowed = await fetch(authorize, { method: "POST", redirect: "manual", body });
  const back = await browser.get(allowed.headers.get("location") ?? "");
  const text = readable((await browser.follow(back)).body);
  expect(text).toContain("Please tell that service.");
  expect(text).not.toContain("is not answering");
  expect(reports()).toBe(1);
});

test("an error of our app in the browser's address is told to the person alone, because anybody can write it", async () => {
  const before = reports();
  const { browser, authorize } = await leave("linkedin");
  const asked = new URL(authorize).searchParams;
  const callback = new URL(asked.get("redirect_uri") ?? "");
  callback.search = new URLSearchParams({
    error: "invalid_scope",
    error_description: 'Your application has not been authorized for the scope "w_member_social"',
    state: asked.get("state") ?? "",
  }).toString();
  const text = readable((await browser.follow(await browser.get(callback.href))).body);
  expect(text).toContain("Please tell that service.");
  expect(reports()).toBe(before);
});
