import { expect, test } from "vitest";
import { Browser, decide, locationOf, readable } from "./browser.ts";
import { anOwner, openWorld } from "./world.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { forFile } from "../setup/for-file.ts";

const world = forFile(() => openWorld(DEMO_APPS));

const REPORT = "a network refuses the app";
const reports = () => world.relay.logLines.filter((line) => line.includes(REPORT)).length;

/** Opens the page of a new customer, and goes to the network's own. */
async function leave(network: "instagram" | "linkedin") {
  const { browser, page } = await open(network);
  return { browser, authorize: locationOf(await browser.submit(page, network, {})) };
}

async function open(network: "instagram" | "linkedin" | "bluesky") {
  const owner = await anOwner(world);
  const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const call = { key: owner.key, body: { platforms: [network] } };
  const session = await world.relay.call("POST", path, call);
  const browser = new Browser(world);
  return { browser, page: await browser.get(session.body.data.connectUrl as string) };
}

test("an app that takes its testers' accounts alone is told to the person and to the operator", async () => {
  world.sandbox.fault("instagram", "accessToken", "answer:developer-role");
  const { browser, authorize } = await leave("instagram");
  const body = new URLSearchParams({ decision: "allow" });
  const allowed = await fetch(authorize, { method: "POST", redirect: "manual", body });
  const back = await browser.get(allowed.headers.get("location") ?? "");
  const text = readable((await browser.follow(back)).body);
  expect(text).toContain("and contact their support.");
  expect(text).not.toContain("is not answering");
  expect(reports()).toBe(1);
});

const said = (status: number, body: unknown) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
  isAfter: false,
});

test("a permission that LinkedIn's page lets nobody leave out is the app's when it is missing", async () => {
  const before = reports();
  const message = "Not enough permissions to access: userinfo.GET.NO_VERSION";
  const body = { status: 403, serviceErrorCode: 100, code: "ACCESS_DENIED", message };
  world.sandbox.fault("linkedin", "userinfo", said(403, body));
  const { browser, authorize } = await leave("linkedin");
  const back = await browser.get(await decide(authorize, "allow"));
  const text = readable((await browser.follow(back)).body);
  expect(text).toContain("and contact their support.");
  expect(text).not.toContain("leave everything selected");
  expect(reports()).toBe(before + 1);
});

test("client documents that Bluesky does not take are told to the person and to the operator", async () => {
  const before = reports();
  const error_description = "Failed to fetch client information due to an internal error";
  const body = { error: "invalid_client_metadata", error_description };
  world.sandbox.fault("bluesky", "par", said(400, body), 10);
  const { browser, page } = await open("bluesky");
  const answer = await browser.submit(page, "bluesky", { identifier: "demo.bsky.social" });
  world.sandbox.clearFaults();
  expect(readable(answer.body)).toContain("and contact their support.");
  expect(reports()).toBe(before + 1);
});

test("a server that is set up wrongly is one for its administrator", async () => {
  const body = { error: "invalid_dpop_proof", error_description: "DPoP htu mismatch" };
  world.sandbox.fault("bluesky", "par", said(400, body), 10);
  const { browser, page } = await open("bluesky");
  const answer = await browser.submit(page, "bluesky", { identifier: "demo.bsky.social" });
  world.sandbox.clearFaults();
  expect(readable(answer.body)).toContain("ask the server’s administrator");
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
  expect(text).toContain("and contact their support.");
  expect(reports()).toBe(before);
});
