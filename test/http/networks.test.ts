import { describe, expect, test } from "vitest";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay(DEMO_APPS);
const described = async () => dataOf(await relay.call("GET", "/v1/networks"));

describe("what networks take", () => {
  test("everybody may read what networks take, and caches may keep it for an hour", async () => {
    const answer = await relay.call("GET", "/v1/networks");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(Object.keys(dataOf(answer))).toEqual([...NETWORK_NAMES]);
  });

  test("networks without an app of this relay are not configured, and no table is read", async () => {
    let requests = 0;
    const bare = await startRelay({
      tableFault() {
        requests += 1;
        return "pass";
      },
    });
    requests = 0;
    const networks = dataOf(await bare.call("GET", "/v1/networks"));
    expect(requests).toBe(0);
    expect(networks.bluesky.configured).toBe(true);
    expect(networks.facebook.configured).toBe(false);
    await bare.stop();
    expect((await described()).facebook.configured).toBe(true);
  });

  test("the limits are those of each network", async () => {
    const networks = await described();
    const limits = NETWORK_NAMES.map((name) => [name, networks[name].limits] as const);
    expect(Object.fromEntries(limits)).toMatchObject({
      bluesky: { maxCharacters: 300, unit: "graphemes", maxMedia: 10, video: { secondsMax: 600 } },
      mastodon: { maxCharacters: 500, unit: "characters", maxMedia: 4 },
      facebook: { maxCharacters: 63_206, unit: "utf16", maxMedia: 10 },
      instagram: { maxCharacters: 2_200, unit: "utf16", video: { secondsMax: 900 } },
      linkedin: { maxCharacters: 3_000, unit: "utf16", maxMedia: 20 },
    });
    for (const [, { image }] of limits) expect(image.types).toContain("image/jpeg");
  });

  test("each rule is there once, and a finding of a validation is among them with its code", async () => {
    const networks = await described();
    for (const name of NETWORK_NAMES) {
      const ids = networks[name].rules.map(({ id }: { readonly id: string }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(id.startsWith(`${name}.`)).toBe(true);
      expect(networks[name].fields).toEqual(expect.arrayContaining(["text", "mediaUrls"]));
      expect(JSON.stringify(networks[name].rules)).not.toContain("{limit}");
    }
    const publisher = await aPublisher(relay, ["bluesky"]);
    const answer = await relay.call("POST", "/v1/posts/validate", {
      key: publisher.application.key,
      headers: { "x-profile-id": publisher.profileId },
      body: { text: "x".repeat(60_000), platforms: [...NETWORK_NAMES] },
    });
    let findings = 0;
    for (const [name, { errors, warnings }] of Object.entries<{
      errors: { rule: string; code: string; severity?: string }[];
      warnings: { rule: string; code: string }[];
    }>(dataOf(answer).platforms))
      for (const { rule, code } of [...errors, ...warnings]) {
        if (!rule.startsWith(`${name}.text.`)) continue;
        findings += 1;
        expect(networks[name].rules).toContainEqual(expect.objectContaining({ id: rule, code }));
      }
    expect(findings).toBeGreaterThanOrEqual(5);
  });
});
