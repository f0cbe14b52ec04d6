import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { Browser } from "../connections/browser.ts";
import { anOwner, openWorld, type Owner, type World } from "../connections/world.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";
import { dataOf } from "../setup/factories.ts";
import type { Answer } from "../setup/relay.ts";

const HELD_HOST = "held.example.com";
const PROMPT_HOST = "prompt.example.com";
/** More than a process lets one platform wait with, and fewer than its host lets in. */
const CALLS = 40;

/** The requests that the slow server has not answered yet. */
let held: ServerResponse[] = [];
const slow = createServer((_request, response) => void held.push(response));
const prompt = createServer((_request, response) => void response.writeHead(404).end());

let world: World;
let attacker: Owner;
let other: Owner;
beforeAll(async () => {
  const origins = [slow, prompt].map(async (server) => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  const [held, prompted] = await Promise.all(origins);
  world = await openWorld({}, { [HELD_HOST]: held ?? "", [PROMPT_HOST]: prompted ?? "" });
});
afterAll(async () => {
  await world.close();
  for (const server of [slow, prompt]) server.close();
});
beforeEach(async () => {
  [attacker, other] = await Promise.all([anOwner(world, 500), anOwner(world)]);
});

/** Answers what the slow server holds, and what comes after it, until all calls have ended. */
async function endAll(calls: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const timer = setInterval(() => {
    for (const response of held) response.writeHead(404).end();
    held = [];
  }, 10);
  try {
    return await Promise.all(calls);
  } finally {
    clearInterval(timer);
  }
}

const countOf = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

const validate = ({ key, profileId }: Owner, host: string) =>
  world.relay.call("POST", "/v1/posts/validate?media=true", {
    key,
    headers: { "x-profile-id": profileId },
    body: { text: "x", platforms: ["bluesky"], mediaUrls: [`https://${host}/photo.jpg`] },
  });

test("a platform whose files' server is slow keeps few requests waiting, and the rest are refused unpaid", async () => {
  const refused: Answer[] = [];
  const calls = Array.from({ length: CALLS }, async () => {
    const answer = await validate(attacker, HELD_HOST);
    if (answer.status === 429) refused.push(answer);
    return answer;
  });
  // The server answers nothing, so only refusals end.
  await vi.waitFor(() => expect(refused.length + held.length).toBe(CALLS), PATIENCE_MS);
  expect(held.length).toBeLessThanOrEqual(CALLS / 2);
  expect(held.length).toBeGreaterThanOrEqual(5);
  expect(refused[0]?.body.error).toMatchObject({ code: "rate_limited" });
  expect(refused[0]?.headers.get("retry-after")).toBe("5");

  const checked = await validate(other, PROMPT_HOST);
  expect(dataOf(checked).media).toMatchObject([{ error: "media_unreachable" }]);

  const waiting = held.length;
  const ended = await endAll(calls);
  expect([countOf(ended, 200), countOf(ended, 429)]).toEqual([waiting, CALLS - waiting]);
  const balance = await world.relay.call("GET", "/v1/billing/balance", { key: attacker.key });
  expect(dataOf(balance).tokenBalance).toBe(500 - 2 * waiting);
});

test("visitors of a platform's connect page keep few requests waiting, and none of the platform's own", async () => {
  const path = `/v1/profiles/${attacker.profileId}/connect/sessions`;
  const session = dataOf(await world.relay.call("POST", path, { key: attacker.key, body: {} }));
  const form = await new Browser(world).get(session.connectUrl);
  const refused: Answer[] = [];
  const calls = Array.from({ length: CALLS }, async () => {
    const typed = { instance: HELD_HOST };
    const answer = await new Browser(world).submit(form, "mastodon", typed);
    if (answer.status === 429) refused.push(answer);
    return answer;
  });
  await vi.waitFor(() => expect(refused.length + held.length).toBe(CALLS), PATIENCE_MS);
  expect(held.length).toBeLessThanOrEqual(CALLS / 2);
  expect(refused[0]?.body).toContain("Reload the page in a minute");

  expect((await validate(attacker, PROMPT_HOST)).status).toBe(200);
  await endAll(calls);
});
