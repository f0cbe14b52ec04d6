import { describe, expect, test } from "vitest";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay, visible } = useSandboxedRelay({ LEG_RETRY_SECONDS: "0.5,1,1" });

/** Second by second; answers the post and how many seconds it took. */
async function ended(publisher: Awaited<ReturnType<typeof aPublisher>>, postId: string) {
  for (let seconds = 0; seconds < 400; seconds += 1) {
    await relay.drain();
    const post = await publisher.read(postId);
    if (post.status !== "processing") return { post, seconds };
    relay.advance(1_000);
  }
  throw new Error("the post did not end");
}

/** Calls to the networks fail as said until the clock says otherwise. */
function outage(untilMs: number, failure: "lost" | "after"): () => void {
  const { outbound } = relay.services.connections;
  const request = outbound.request.bind(outbound);
  outbound.request = async (asked) => {
    if (relay.clock.now().getTime() > untilMs) return request(asked);
    if (failure === "after" && asked.method === "POST") await request(asked);
    throw new HttpFailure("in_doubt", "timeout");
  };
  return () => {
    outbound.request = request;
  };
}

describe.each(["bluesky", "mastodon"] as const)(
  "%s, away for seconds, with a schedule that is over sooner than the outage",
  (network) => {
    test("a network whose absent post proves something is asked once more, and the leg is published once", async () => {
      const publisher = await aPublisher(relay, [network]);
      const text = unique("Away");
      const end = outage(relay.clock.now().getTime() + 12_000, "lost");
      const { id } = await publisher.accept({ text, platforms: [network] });
      const { post, seconds } = await ended(publisher, id);
      end();
      expect(post.legs[0].error).toBeNull();
      expect(post.status).toBe("succeeded");
      expect(seconds).toBeGreaterThan(20);
      expect(seconds).toBeLessThan(70);
      expect(visible(text)).toHaveLength(1);
      expect(await publisher.balance()).toMatchObject({ tokenReserved: 0 });
    });

    test("a post that the network published without an answer is found", async () => {
      const publisher = await aPublisher(relay, [network]);
      const text = unique("Silent");
      const end = outage(relay.clock.now().getTime() + 12_000, "after");
      const { id } = await publisher.accept({ text, platforms: [network] });
      const { post } = await ended(publisher, id);
      end();
      expect(post).toMatchObject({ status: "succeeded", tokens: { charged: 10, reserved: 0 } });
      expect(visible(text)).toHaveLength(1);
    });

    test("a longer outage of the network leaves the outcome unknown, within bounds", async () => {
      const publisher = await aPublisher(relay, [network]);
      const text = unique("Gone");
      const end = outage(relay.clock.now().getTime() + 3_600_000, "lost");
      const { id } = await publisher.accept({ text, platforms: [network] });
      const { post, seconds } = await ended(publisher, id);
      end();
      expect(post.legs[0]).toMatchObject({ status: "failed", error: { code: "outcome_unknown" } });
      expect(seconds).toBeGreaterThan(55);
      expect(seconds).toBeLessThan(300);
      expect(await publisher.balance()).toMatchObject({ tokenReserved: 0 });
    });
  },
);
