import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { chapters } from "../../../src/functions/routes.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { openApi } from "../../../tools/reference/openapi.ts";
import { networkOf, type NetworkName } from "../../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import type * as Registry from "../../../src/shared/networks/registry.ts";
import { SETTINGS } from "../../../src/shared/config/settings.ts";
import { Browser, readable } from "../../connections/browser.ts";
import { BASE, openWorld, anOwner, type Owner, type World } from "../../connections/world.ts";
import { dataOf } from "../../setup/factories.ts";
import { unique, uniqueKey } from "../../setup/publisher.ts";
import { describeAccounts } from "../contract/accounts.ts";
import type { NetworkContract } from "../contract/contracts.ts";
import { describeLongAnswers } from "../contract/long-answers.ts";
import { describeEffects } from "../contract/effects.ts";
import { describeRefusals } from "../contract/refusals.ts";
import { startWorld } from "../contract/world.ts";
import { PINBOARD_HOST, startPinboard, type PinboardServer } from "./pinboard-server.ts";

// The one edit that a sixth network is: its line in the registry.
vi.mock("../../../src/shared/networks/registry.ts", async (original) => {
  const registry = await original<typeof Registry>();
  const { pinboard } = await import("./pinboard/index.ts");
  return { NETWORKS: { ...registry.NETWORKS, pinboard } };
});

// Safe: the line above registers it; the compiler sees the registry as it is on disk.
const PINBOARD = "pinboard" as NetworkName;

const CONTRACT: NetworkContract = {
  settings: {},
  forms: { text: { as: { accessToken: "pin" }, isKnownAgain: true } },
  refusals: [],
  retryAfterSeconds: 45,
  lifetimes: { 400: "succeeded" },
  quota: { setting: "QUOTA_PINBOARD", kind: "pins", form: "text" },
};

const outboundSettings = (server: PinboardServer) => ({
  OUTBOUND_HOST_MAP: JSON.stringify({ [PINBOARD_HOST]: server.url }),
  OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
});

async function startPinboardWorld(settings: Readonly<Record<string, string>> = {}) {
  const server = await startPinboard();
  const world = await startWorld({
    network: PINBOARD,
    settings: { ...outboundSettings(server), ...settings },
    standIn: server,
  });
  return {
    ...world,
    async stop() {
      await world.stop();
      await server.stop();
    },
  };
}

describe("a sixth network, of which there is a folder and a line in the registry,", () => {
  let server: PinboardServer;
  let world: World;
  let owner: Owner;
  beforeAll(async () => {
    server = await startPinboard();
    world = await openWorld({ QUOTA_PINBOARD: "2" }, { [PINBOARD_HOST]: server.url });
    owner = await anOwner(world);
  });
  afterAll(async () => {
    await world.close();
    await server.stop();
  });

  const call = (method: string, path: string, body?: object) =>
    world.relay.call(method, path, {
      key: owner.key,
      headers: { "x-profile-id": owner.profileId, "idempotency-key": uniqueKey() },
      ...(body === undefined ? {} : { body }),
    });

  test("a sixth network, of which there is a folder and a line in the registry, is known by its name, with its settings and its quota", () => {
    expect(NETWORK_NAMES.at(-1)).toBe(PINBOARD);
    expect(networkOf(PINBOARD).title).toBe("Pinboard");
    expect(SETTINGS["QUOTA_PINBOARD"]?.fallback).toBe("50");
    const environment = {
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
    };
    const { quotas } = parseConfig({ ...environment, QUOTA_PINBOARD: "7" }).publishing;
    expect(quotas["pinboard.pins"]).toBe(7);
    expect(() => parseConfig({ ...environment, QUOTA_PINBOARD: "many" })).toThrow("QUOTA_PINBOARD");
  });

  test("a sixth network, of which there is a folder and a line in the registry, is part of the API's document", () => {
    const { schemas } = openApi(chapters, BASE, "Publishing Relay").components;
    expect(schemas["Network"]).toMatchObject({ enum: NETWORK_NAMES });
    const options = z
      .object({ properties: z.record(z.string(), z.unknown()) })
      .parse(schemas["PlatformOptions"]);
    expect(JSON.stringify(options.properties["pinboard"])).toContain("board");
  });

  test("a sixth network, of which there is a folder and a line in the registry, has its options checked", async () => {
    const refused = await call("POST", "/v1/posts/validate", {
      text: "Hello",
      platforms: ["pinboard"],
      platformOptions: { pinboard: { color: "red" } },
    });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain("platformOptions.pinboard");
  });

  test("a sixth network, of which there is a folder and a line in the registry, is linked on the connect page", async () => {
    const session = dataOf(
      await call("POST", `/v1/profiles/${owner.profileId}/connect/sessions`, {
        platforms: ["pinboard"],
        returnUrl: "https://app.customer.example.org/done",
      }),
    );
    const browser = new Browser(world);
    const page = await browser.get(session.connectUrl);
    expect(session.connectUrl.startsWith(BASE)).toBe(true);
    expect(readable(page.body)).toContain("Pinboard");
    expect(readable(page.body)).toContain("Access token");
    const wrong = await browser.submit(page, "pinboard", { accessToken: "nonsense" });
    expect(wrong.status).toBe(422);
    await browser.submit(page, "pinboard", { accessToken: "pin" });
    const linked = dataOf(await call("GET", `/v1/profiles/${owner.profileId}/connections`));
    expect(linked).toMatchObject([
      { platform: "pinboard", status: "active", account: { username: "demo" } },
    ]);
  });

  test("judges drafts by its rules and its quota", async () => {
    const body = { text: "x".repeat(121), platforms: ["pinboard"] };
    const result = dataOf(await call("POST", "/v1/posts/validate", body));
    expect(result).toMatchObject({
      valid: false,
      platforms: {
        pinboard: {
          errors: [{ code: "text_too_long", rule: "pinboard.text.graphemes", field: "text" }],
          usedCharacters: 121,
          maxCharacters: 120,
          quota: { used: 0, limit: 2, remaining: 2 },
        },
      },
    });
  });

  test("a sixth network, of which there is a folder and a line in the registry, is published to, with its own options, and paid for", async () => {
    const text = unique("Pinned");
    const accepted = dataOf(
      await call("POST", "/v1/posts", {
        text,
        platforms: ["pinboard"],
        platformOptions: { pinboard: { board: "garden" } },
      }),
    );
    await world.relay.drain();
    const post = dataOf(await call("GET", `/v1/posts/${accepted.id}`));
    expect(server.posts()).toMatchObject([{ text, board: "garden" }]);
    expect(post).toMatchObject({
      status: "succeeded",
      tokens: { charged: 10 },
      legs: [{ platform: "pinboard", status: "succeeded", url: server.posts()[0]?.url }],
    });
  });
});

describe("the contract of a sixth network", () => {
  describe("effects", () => describeEffects(CONTRACT, startPinboardWorld));
  describe("refusals", () => describeRefusals(CONTRACT, startPinboardWorld));
  describe("long answers", () => describeLongAnswers(CONTRACT, startPinboardWorld));
  describe("account", () => describeAccounts(CONTRACT, startPinboardWorld));
});
