import { expect, test } from "vitest";
import { connectSessionKey } from "../../src/shared/connections/connect-session-store.ts";
import { BLUESKY } from "../http/connect-calls.ts";
import { forFile } from "../setup/for-file.ts";
import { dataOf } from "../setup/factories.ts";
import { Browser, readable } from "./browser.ts";
import { anOwner, openWorld } from "./world.ts";

const world = forFile(() => openWorld());

test("a session that a later build has started is shown and visited, and keeps what only that build knows", async () => {
  const owner = await anOwner(world);
  const call = { key: owner.key, hasLaterValues: true } as const;
  const body = { platforms: ["bluesky", "mastodon"], branding: { name: "Acme", locale: "de" } };
  const started = dataOf(
    await world.relay.call("POST", `/v1/profiles/${owner.profileId}/connect/sessions`, {
      ...call,
      body,
    }),
  ) as { readonly id: string; readonly connectUrl: string };
  const { core } = world.relay.tables;
  const rowKey = connectSessionKey(started.id);
  const later = {
    createdBy: JSON.stringify({ kind: "agent", id: "agent_1", onBehalfOf: "user_1" }),
    branding: JSON.stringify({ name: "Acme", locale: "nl", theme: "sepia", font: "serif" }),
    networks: JSON.stringify(["bluesky", "mastodon", "threads"]),
  };
  await core.putProperties(owner.platformId, { rowKey, ...later });

  const path = `/v1/connect/sessions/${started.id}`;
  expect(await world.relay.call("GET", path, call)).toMatchObject({
    status: 200,
    body: {
      data: {
        createdBy: { kind: "agent", id: "agent_1" },
        branding: { locale: "nl", theme: "sepia", font: "serif" },
      },
    },
  });
  const browser = new Browser(world);
  const page = await browser.get(started.connectUrl);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-language") ?? page.body).toMatch(/^en$|<html lang="en"/);
  expect(readable(page.body)).toContain("Acme");
  await browser.submit(page, "bluesky", BLUESKY);
  expect((await world.relay.call("POST", `${path}/cancel`, call)).status).toBe(200);

  const row = await core.find(owner.platformId, rowKey);
  expect(row?.row).toMatchObject({ ...later, status: "canceled", attempts: 1 });
  expect(row?.row["links"]).toContain("bluesky");
});
