import { expect, test } from "vitest";
import { aPlatform } from "../setup/factories.ts";
import { useRelay } from "../setup/use-relay.ts";

const NAME = "Corner Relay";
const HELP = "https://corner.test/help";

const relay = useRelay({ settings: { SERVICE_NAME: NAME, SUPPORT_URL: HELP } });

test("a customer who has no tokens is told whom to ask for them", async () => {
  const platform = await aPlatform(relay, { tokens: 0 });
  const made = await relay.call("POST", "/v1/applications", {
    session: platform.session,
    body: { name: "Planner" },
  });
  const key: string = made.body.data.apiKey.secret;
  const profile = await relay.call("POST", "/v1/profiles", { key, body: { title: "Bakery" } });
  const refused = await relay.call("POST", "/v1/posts/validate", {
    key,
    headers: { "x-profile-id": profile.body.data.id },
    body: { text: "Fresh rolls", platforms: ["bluesky"] },
  });
  expect([refused.status, refused.body.error.code]).toEqual([402, "insufficient_tokens"]);
  expect(refused.body.error.message).toBe(
    `This needs 1 token; 0 available. Ask an operator of ${NAME} (${HELP}) to add some.`,
  );
});

test("a connect page without a session leads to the operators' help", async () => {
  const page = await relay.call("GET", "/v1/connect/ui");
  expect(page.status).toBe(404);
  expect(String(page.body)).toContain(`href="${HELP}"`);
});

test("the description of the API bears the service's name, for machines and for people", async () => {
  const machines = await relay.call("GET", "/v1/openapi.json");
  expect(machines.body.info.title).toBe(NAME);
  const people = await relay.call("GET", "/docs");
  expect(String(people.body)).toContain(`<title>${NAME} API reference</title>`);
});
