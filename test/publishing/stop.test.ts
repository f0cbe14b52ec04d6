import { afterEach, describe, expect, test, vi } from "vitest";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { publishLegs } from "../../src/shared/publishing/publish/publish-legs.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { sweepStalledLegs } from "../setup/walks.ts";
import { forFile } from "../setup/for-file.ts";

/** What the host leaves to queue functions when it is told to end. */
const STOP_MS = 10_000;
const MINUTE_MS = 60_000;

const { relay } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay, ["mastodon"]));
afterEach(() => {
  vi.restoreAllMocks();
});

/** A post whose hint is lost, and a process of its own that gets it by hand. */
async function aProcess(body: object = {}) {
  relay.queues.onSend = () => "lose";
  const request = { text: unique("Stopping"), platforms: ["mastodon"], ...body };
  const { id } = await publisher.accept(request);
  relay.queues.onSend = () => "keep";
  const ref = { ...publisher.owner, postId: id as string };
  const services = relay.another();
  const hint = { ...ref, networks: ["mastodon"] } as const;
  const leg = async () =>
    (await relay.services.publishing.stores.posts.findLeg(ref, "mastodon"))?.leg;
  const nextCheck = async () => {
    const { works } = await relay.services.publishing.stores.posts.listOpenWork(ref.platformId);
    return works.find((work) => work.ref.postId === id)?.nextCheckAt;
  };
  return { id: id as string, services, hint, leg, nextCheck };
}

/** A process that has begun to read the post's file, which it never ends. */
async function aReadingProcess() {
  const process = await aProcess({ mediaUrls: ["https://media.sandbox.test/photo.jpg"] });
  const begun = Promise.withResolvers<void>();
  const spy = vi.spyOn(mediaReader, "facts").mockImplementation(() => {
    begun.resolve();
    return new Promise(() => undefined);
  });
  void publishLegs(process.services.publishing, process.hint);
  await begun.promise;
  return { ...process, spy };
}

const inMs = (milliseconds: number) => new Date(relay.clock.now().getTime() + milliseconds);

/** A minute's sweep, and what it hints. */
async function sweepAfter(milliseconds: number): Promise<void> {
  relay.advance(milliseconds);
  await sweepStalledLegs(relay.services);
  await relay.drain();
}

describe("a process that has to stop", () => {
  test("a stopping process sets lease and next check of a claimed leg to its own end, in one write", async () => {
    const { id, services, leg, nextCheck, spy } = await aReadingProcess();
    const endsAt = inMs(STOP_MS);
    const writes = vi.spyOn(services.publishing.stores.posts, "replaceLegAndCheck");
    await services.background.work.stop.begin(endsAt);
    expect(writes).toHaveBeenCalledTimes(1);
    expect(await leg()).toMatchObject({
      calls: [{ state: "claimed" }],
      leaseUntil: endsAt.toISOString(),
    });
    expect(await nextCheck()).toBe(endsAt.toISOString());
    spy.mockRestore();
    await sweepAfter(STOP_MS + 1_000);
    expect(await publisher.read(id)).toMatchObject({ status: "succeeded" });
  });

  test("a stopping process leaves a sent leg its lease until the call is over; the leg is then only reconciled", async () => {
    const { id, services, hint, leg } = await aProcess();
    const called = Promise.withResolvers<void>();
    const { outbound } = relay.services.connections;
    const request = outbound.request.bind(outbound);
    const spy = vi.spyOn(outbound, "request").mockImplementation(async (asked) => {
      const answer = await request(asked);
      if (asked.method !== "POST" || !asked.url.includes("/statuses")) return answer;
      called.resolve();
      return new Promise(() => undefined);
    });
    void publishLegs(services.publishing, hint);
    await called.promise;
    spy.mockRestore();
    await services.background.work.stop.begin(inMs(STOP_MS));
    const { networkTimeoutMs } = relay.services.config.publishing;
    const sent = await leg();
    expect(sent?.calls[0].state).toBe("sent");
    expect(Date.parse(sent?.leaseUntil ?? "")).toBe(
      Date.parse(sent?.calls[0].calledAt ?? "") + networkTimeoutMs,
    );
    await sweepAfter(networkTimeoutMs + 1_000);
    for (let minute = 0; minute < 5; minute += 1) await sweepAfter(MINUTE_MS);
    expect(await publisher.read(id)).toMatchObject({ status: "succeeded" });
    expect(await leg()).toMatchObject({ calls: [{ attempts: 1 }] });
  });

  test("a stopping process begins no leg, and hands it back for another process", async () => {
    const { id, services, hint, leg } = await aProcess();
    await services.background.work.stop.begin(inMs(STOP_MS));
    await publishLegs(services.publishing, hint);
    expect(await leg()).toMatchObject({ claimId: null, calls: [{ state: "open", attempts: 0 }] });
    relay.advance(2_000);
    await relay.drain();
    expect(await publisher.read(id)).toMatchObject({ status: "succeeded" });
  });

  test("a stopping process gives back a leg that it could not send in time, which costs no retry", async () => {
    const { id, services, hint, leg } = await aProcess();
    const attached = vi
      .spyOn(services.connections.stores.connections, "open")
      .mockImplementationOnce(async (...of) => {
        await services.background.work.stop.begin(inMs(STOP_MS));
        attached.mockRestore();
        return services.connections.stores.connections.open(...of);
      });
    await publishLegs(services.publishing, hint);
    expect(await leg()).toMatchObject({
      claimId: null,
      calls: [{ state: "open", retries: 0, sentAt: null }],
    });
    relay.advance(2_000);
    await relay.drain();
    expect(await publisher.read(id)).toMatchObject({ status: "succeeded" });
  });
});

test("a process that is killed leaves its leg to the sweep for the lease and a minute", async () => {
  const { id, spy } = await aReadingProcess();
  spy.mockRestore();
  const { leaseSeconds } = relay.services.config.publishing;
  await sweepAfter(leaseSeconds * 1000);
  await sweepAfter(MINUTE_MS);
  expect(await publisher.read(id)).toMatchObject({ status: "succeeded" });
});
