import { expect, onTestFinished, test } from "vitest";
import { CONTRACTS } from "./contract/contracts.ts";
import { runLeg } from "./contract/leg-run.ts";
import { startSandboxWorld } from "./contract/sandbox-world.ts";
import { sendingStep } from "./contract/steps.ts";
import { findConnection } from "../setup/stored.ts";
import { forFile } from "../setup/for-file.ts";

/** A video that becomes a reel by its shape and length. */
const { reel } = CONTRACTS.facebook.forms;

const world = forFile(() => startSandboxWorld("facebook", CONTRACTS.facebook, {}));

async function usedReels(): Promise<number> {
  const { services, clock } = world.relay;
  const { owner } = world.lastPublisher();
  const connection = await findConnection(services, owner, "facebook");
  const account = { network: "facebook", accountId: connection?.account.id ?? "" } as const;
  return (await services.publishing.stores.networkAccounts.readQuota(account, "reels", clock.now()))
    .used;
}

test("a video that Facebook refuses as a reel and takes in the feed gives the reel's share back", async () => {
  const step = await sendingStep(world, reel);
  const used = await usedReels();
  expect(used).toBe(1);
  const run = await runLeg(world, reel, { step, fault: "fail:media_rejected" });
  expect(run.leg).toMatchObject({ status: "succeeded", tokensCharged: 10 });
  expect(run.made.map(({ route }) => route)).toContain("videos");
  expect(await usedReels()).toBe(used);
  const lines = world.relay.logLines;
  const prepared = lines.filter((line) => line.includes('"leg prepared"'));
  expect(prepared.at(-1)).toContain('"form":"video"');
  const doubts = lines.filter((line) => line.includes("network.fact_doubtful"));
  expect(doubts.join()).toContain("facebook.video.duration");
});

test("a reel that is never sent because its lease is always too short gives its share back", async () => {
  const { services } = world.relay;
  const used = await usedReels();
  const { networkAccounts } = services.publishing.stores;
  const claim = networkAccounts.claimQuota.bind(networkAccounts);
  let claims = 0;
  const slow: typeof claim = async (...given) => {
    const isTaken = await claim(...given);
    // A retry goes on with the share of the attempt before.
    expect(await usedReels()).toBeLessThanOrEqual(used + 1);
    claims += 1;
    world.relay.advance(services.config.publishing.leaseSeconds * 1000);
    return isTaken;
  };
  Object.assign(networkAccounts, { claimQuota: slow });
  onTestFinished(() => void Object.assign(networkAccounts, { claimQuota: claim }));
  const run = await runLeg(world, reel);
  expect(run.leg).toMatchObject({ status: "failed", error: { networkCode: "lease_too_short" } });
  expect(claims).toBeGreaterThan(1);
  expect(await usedReels()).toBe(used);
});
