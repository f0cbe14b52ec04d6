import { expect, test } from "vitest";
import { PIXELFED_HOST } from "../../sandbox/mastodon/state.ts";
import { answer } from "../networks/scripted-tools.ts";
import { Browser, locationOf, readable } from "./browser.ts";
import { anOwner, openWorld } from "./world.ts";
import { forFile } from "../setup/for-file.ts";

const world = forFile(() => openWorld());

test("a server that refuses fine scopes on its page is asked for coarse ones in the same visit", async () => {
  const owner = await anOwner(world);
  const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const session = await world.relay.call("POST", path, {
    key: owner.key,
    body: { platforms: ["mastodon"] },
  });
  // So that nothing tells beforehand what it runs.
  world.intercept(async (request, send) =>
    request.url.includes("nodeinfo") ? answer(404) : await send(request),
  );
  const browser = new Browser(world);
  const page = await browser.get(session.body.data.connectUrl as string);
  const authorize = locationOf(await browser.submit(page, "mastodon", { instance: PIXELFED_HOST }));
  const refused = await fetch(authorize, { redirect: "manual" });
  const callback = refused.headers.get("location") ?? "";
  expect(new URL(callback).searchParams.get("error")).toBe("invalid_scope");
  const again = locationOf(await browser.get(callback));
  expect(new URL(again).searchParams.get("scope")).toBe("read write");
  const body = new URLSearchParams({ decision: "allow" });
  const allowed = await fetch(again, { method: "POST", redirect: "manual", body });
  const back = await browser.get(allowed.headers.get("location") ?? "");
  expect(readable(back.body)).toContain("Your accounts are connected.");
});
