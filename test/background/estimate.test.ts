import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { anOwner, type Owner, type World } from "../connections/world.ts";
import { dataOf } from "../setup/factories.ts";
import { unique, uniqueKey } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { DAY_MS, openWholeWorld } from "./accounts.ts";

const RUNS = 40;
const STORING = 2;

let world: World;
let owner: Owner;
beforeAll(async () => {
  world = await openWholeWorld();
  owner = await anOwner(world, 1_000_000);
  // Two networks stay without an account.
  for (const network of ["mastodon", "linkedin", "instagram"] as const)
    await linkSandboxAccount(world.services, owner, network);
});
afterAll(() => world.close());

const call = (path: string, body: object) =>
  world.relay.call("POST", path, {
    key: owner.key,
    headers: { "x-profile-id": owner.profileId, "idempotency-key": uniqueKey() },
    body,
  });

const media = fc.constantFrom(
  "https://media.sandbox.test/portrait.jpg",
  "https://media.sandbox.test/photo.png",
  "https://media.sandbox.test/clip.mp4",
);

/** Drafts that some networks take and others don't: too long, without media, with too many or mixed ones. */
const drafts = fc.record({
  length: fc.constantFrom(0, 5, 290, 400, 600, 2_300, 3_100),
  platforms: fc.uniqueArray(fc.constantFrom(...NETWORK_NAMES), { minLength: 1, maxLength: 5 }),
  mediaUrls: fc.array(media, { maxLength: 5 }),
  isScheduled: fc.boolean(),
});

interface Wallet {
  readonly tokenBalance: number;
  readonly tokenReserved: number;
}
const wallet = async (): Promise<Wallet> =>
  dataOf(await world.relay.call("GET", "/v1/billing/balance", { key: owner.key }));

describe("the token estimate of validation", () => {
  test("the token estimate of validation is what accepting the same draft then charges and reserves, for any draft", async () => {
    let accepted = 0;
    let refused = 0;
    const property = fc.asyncProperty(drafts, async ({ length, isScheduled, ...draft }) => {
      const text = length === 0 ? "" : unique("Draft").padEnd(length, " word");
      const scheduleAt = isScheduled
        ? new Date(world.relay.clock.now().getTime() + DAY_MS).toISOString()
        : null;
      const body = { ...draft, text, scheduleAt };
      const validated = await call("/v1/posts/validate", body);
      // Neither text nor media is no draft at all.
      if (validated.status === 400) {
        expect((await call("/v1/posts", body)).status).toBe(400);
        return;
      }
      const { tokensEstimate } = dataOf(validated);
      const before = await wallet();
      const answer = await call("/v1/posts", body);
      const after = await wallet();
      const charged = before.tokenBalance - after.tokenBalance;
      const reserved = after.tokenReserved - before.tokenReserved;
      if (answer.status === 422) {
        refused += 1;
        expect({ charged, reserved, tokensEstimate }).toEqual({
          charged: 0,
          reserved: 0,
          tokensEstimate: 0,
        });
        return;
      }
      accepted += 1;
      const { legs } = dataOf(answer);
      const pending = legs.filter(({ status }: { status: string }) => status === "pending").length;
      // Legs of a scheduled post are reserved when it fires.
      expect(charged).toBe(isScheduled ? STORING : 0);
      expect(charged + (isScheduled ? pending * 10 : reserved)).toBe(tokensEstimate);
    });
    await fc.assert(property, { numRuns: RUNS, seed: 20_260_304 });
    expect(accepted).toBeGreaterThan(5);
    expect(refused).toBeGreaterThan(2);
  });

  test("a file that can't be fetched doesn't change the estimate, as accepting doesn't fetch it", async () => {
    const body = {
      text: unique("Draft"),
      platforms: ["mastodon", "linkedin"],
      mediaUrls: ["https://media.sandbox.test/nothing-here.jpg"],
    };
    const validated = dataOf(await call("/v1/posts/validate?media=true", body));
    expect(validated).toMatchObject({ valid: false, media: [{ ok: false }] });
    const before = await wallet();
    expect((await call("/v1/posts", body)).status).toBe(202);
    const after = await wallet();
    expect(after.tokenReserved - before.tokenReserved).toBe(validated.tokensEstimate);
    expect(validated.tokensEstimate).toBe(20);
  });
});
