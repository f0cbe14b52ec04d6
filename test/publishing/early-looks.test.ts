import { expect, test } from "vitest";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay, sandbox } = useSandboxedRelay(DEMO_APPS);

/** Returns how often Facebook was asked how far a video is since it was to be published. */
function looksAfterCall(): number {
  const made = sandbox.requests().filter(({ network }) => network === "facebook");
  const call = made.findLastIndex(
    ({ method, path }) => method === "POST" && path.endsWith("_reels"),
  );
  return made.slice(call).filter(({ method, path }) => method === "GET" && path.includes("status"))
    .length;
}

/** Publishes a clip in virtual time. `looks`: after each second, how often the network had been asked. */
async function publishClip(network: NetworkName, words: string) {
  const publisher = await aPublisher(relay, [network]);
  const request = {
    text: unique(words),
    platforms: [network],
    mediaUrls: ["https://media.sandbox.test/clip.mp4"],
  };
  const { id } = await publisher.accept(request);
  const looks: number[] = [];
  for (let second = 0; second < 7_200; second += 1) {
    await relay.drain();
    looks.push(looksAfterCall());
    const { legs } = await publisher.read(id);
    if (!["pending", "publishing"].includes(legs[0].status)) return { leg: legs[0], looks };
    relay.advance(1_000);
  }
  throw new Error("the post did not end");
}

test.each(NETWORK_NAMES)("a video is published on %s within five seconds", async (network) => {
  const { leg, looks } = await publishClip(network, "Clip");
  expect(leg).toMatchObject({ status: "succeeded", error: null });
  expect(looks.length - 1).toBeLessThan(5);
});

test("a video that Facebook works on for long is asked for a handful of times, less and less often", async () => {
  const { leg, looks } = await publishClip("facebook", "Long [processing:9]");
  expect(leg).toMatchObject({ status: "succeeded", error: null });
  const call = looks.indexOf(1);
  const after = [5, 10, 60].map((seconds) => looks[call + seconds]);
  expect(after).toEqual([4, 5, 7]);
});
