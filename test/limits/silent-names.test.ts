import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PATIENCE_MS } from "../setup/bounds.ts";
import {
  anApplication,
  aProfile,
  dataOf,
  PASSWORD,
  type TestApplication,
} from "../setup/factories.ts";
import { startNameServer, type NameServer } from "../setup/name-server.ts";
import { type Answer, startRelay, type Relay } from "../setup/relay.ts";

let names: NameServer;
let relay: Relay;
beforeAll(async () => {
  // A server that knows one name, and never answers for any other.
  names = await startNameServer((name) =>
    name.startsWith("known.") ? { a: ["127.0.0.1"] } : "silence",
  );
  relay = await startRelay({
    settings: { OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32", OUTBOUND_NAME_SERVERS: names.address },
  });
});
afterAll(async () => {
  await relay.stop();
  await names.stop();
});

async function validate(by: TestApplication, mediaUrls: readonly string[]): Promise<Answer> {
  const headers = { "x-profile-id": (await aProfile(relay, by)).id };
  const body = { text: "Hello", platforms: ["bluesky"], mediaUrls };
  return relay.call("POST", "/v1/posts/validate?media=true", { key: by.key, headers, body });
}

const silent = (name: string) => `https://${name}.silent.example.com/photo.jpg`;

test("names that never resolve keep no other customer waiting for look-ups and threads", async () => {
  const [attacker, other] = [await anApplication(relay), await anApplication(relay)];
  const ended: string[] = [];
  const as = async (who: string, call: Promise<Answer>) => {
    const answer = await call;
    ended.push(who);
    return answer;
  };
  const attack = Array.from({ length: 5 }, (_, at) =>
    as(
      "attack",
      validate(
        attacker,
        [0, 1, 2, 3].map((file) => silent(`n${at}-${file}`)),
      ),
    ),
  );
  await vi.waitFor(() => expect(new Set(names.asked).size).toBeGreaterThan(10), PATIENCE_MS);

  const login = { email: other.platform.email, password: PASSWORD };
  const webhook = { url: "https://known.example.com/relay" };
  const [, registered, checked] = await Promise.all([
    as("login", relay.call("POST", "/v1/auth/login", { body: login })),
    as("webhook", relay.call("POST", "/v1/webhooks", { key: other.key, body: webhook })),
    as("check", validate(other, ["https://known.example.com:1/photo.jpg"])),
  ]);
  expect(ended.toSorted()).toEqual(["check", "login", "webhook"]);
  expect(registered.status).toBe(201);
  expect(dataOf(checked).media).toMatchObject([{ ok: false, error: "media_unreachable" }]);

  for (const answer of await Promise.all(attack))
    expect(dataOf(answer).media.map(({ error }: { error: string }) => error)).toEqual(
      Array.from({ length: 4 }, () => "media_unreachable"),
    );
  expect(names.asked).toContain("n0-0.silent.example.com");
});
