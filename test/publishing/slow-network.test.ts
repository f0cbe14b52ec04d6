import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { publishLegs } from "../../src/shared/publishing/publish/publish-legs.ts";
import { HttpFailure, type HttpRequest } from "../../src/shared/runtime/http-call.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { forFile } from "../setup/for-file.ts";

/** What is left for the writes of a leg whose calls have no time any more. */
const WRITES_MS = 60_000;
const NETWORKS = ["mastodon", "bluesky"] as const;

const { relay } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay, NETWORKS));
afterEach(() => {
  vi.restoreAllMocks();
});

/** When the host ends the process and everything that runs in it. */
function functionTimeoutMs(): number {
  const { functionTimeout } = JSON.parse(readFileSync("host.json", "utf8")) as {
    functionTimeout: string;
  };
  const [hours = 0, minutes = 0, seconds = 0] = functionTimeout.split(":").map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** Makes every call take this long, or end at the time that it is given. Returns how much time has passed in all. */
function slowCalls(callMs: number): () => number {
  let passedMs = 0;
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
  const { config } = relay.services;
  const { outbound } = relay.services.connections;
  const pass = (asked: HttpRequest): void => {
    const limitMs = asked.timeoutMs ?? config.publishing.networkTimeoutMs;
    passedMs += Math.min(callMs, limitMs);
    if (limitMs < callMs) throw new HttpFailure("in_doubt", "timeout");
  };
  for (const name of ["request", "open"] as const) {
    const call = outbound[name].bind(outbound) as (asked: HttpRequest) => Promise<never>;
    vi.spyOn(outbound, name).mockImplementation(async (asked: HttpRequest) => {
      pass(asked);
      return call(asked);
    });
  }
  return () => passedMs;
}

test.each(NETWORKS)(
  "a leg on %s ends before the host's time-out however slow it is",
  async (network) => {
    relay.queues.onSend = () => "lose";
    const names = ["photo.jpg", "photo.png", "portrait.jpg", "photo-2.jpg"];
    const mediaUrls = names.map((name) => `https://media.sandbox.test/${name}`);
    const request = { text: unique("Slow"), platforms: [network], mediaUrls };
    const { id } = (await publisher.accept(request)) as { id: string };
    relay.queues.onSend = () => "keep";
    const ref = { ...publisher.owner, postId: id };
    const hint = { ...ref, networks: [network] };

    const passedMs = slowCalls(55_000);
    await publishLegs(relay.services.publishing, hint);
    expect(passedMs()).toBeGreaterThan(200_000);
    expect(passedMs()).toBeLessThanOrEqual(functionTimeoutMs() - WRITES_MS);
    const found = await relay.services.publishing.stores.posts.findLeg(ref, network);
    expect(found?.leg).toMatchObject({
      claimId: null,
      calls: [{ state: "open", sentAt: null }],
    });

    vi.restoreAllMocks();
    for (let minute = 0; minute < 10; minute += 1) {
      relay.advance(60_000);
      await relay.drain();
    }
    expect(await publisher.read(id)).toMatchObject({ status: "succeeded" });
  },
);
