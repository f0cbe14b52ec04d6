import { expect, test } from "vitest";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay(DEMO_APPS);

test.each(NETWORK_NAMES)(
  "a post to %s with a file that does not exist fails within two retries, and its timeline says which file",
  async (network) => {
    const publisher = await aPublisher(relay, [network]);
    const mediaUrls = [
      "https://media.sandbox.test/photo.jpg",
      "https://media.sandbox.test/nope.jpg",
    ];
    const { id } = await publisher.accept({
      text: unique("Lost"),
      mediaUrls,
      platforms: [network],
    });
    let leg = (await publisher.read(id)).legs[0];
    for (let second = 0; leg.status !== "failed" && second < 120; second += 1) {
      await relay.drain();
      relay.advance(1_000);
      [leg] = (await publisher.read(id)).legs;
    }
    expect(leg).toMatchObject({ status: "failed", attempts: 3, nextAttemptAt: null });
    expect(leg.error).toMatchObject({
      code: "media_unreachable",
      rule: `${network}.media.statusMissing`,
      mediaIndex: 1,
      developerHint: "The server answers with HTTP 404: it has no file at this URL.",
    });
    const { data } = (await publisher.call("GET", `/v1/posts/${id}/timeline`)).body;
    const waits = data.filter(({ step }: { step: string }) => step === "leg_waiting");
    expect(waits).toHaveLength(2);
    for (const { note } of waits)
      expect(note).toMatch(
        /^Nothing was published \(media_unreachable, file 2: "The server answers with HTTP 404: it has no file at this URL\."\)\. The relay tries again at \S+Z\.$/,
      );
  },
);
