import { expect, test } from "vitest";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay(DEMO_APPS);

interface Finding {
  readonly code: string;
  readonly rule: string;
  readonly field: string | null;
  readonly mediaIndex: number | null;
}
const placeOf = ({ code, rule, field, mediaIndex }: Finding) => ({ code, rule, field, mediaIndex });

test.each(NETWORK_NAMES)(
  "a post to %s with a file that does not exist fails within two retries, and its timeline says which file",
  async (network) => {
    const publisher = await aPublisher(relay, [network]);
    const mediaUrls = [
      "https://media.sandbox.test/photo.jpg",
      "https://media.sandbox.test/nope.jpg",
    ];
    const body = { text: unique("Lost"), mediaUrls, platforms: [network] };
    const validated = await publisher.call("POST", "/v1/posts/validate?media=true", { body });
    const [finding] = validated.body.data.platforms[network].errors;
    const { id } = await publisher.accept(body);
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
    expect(placeOf(leg.error)).toEqual(placeOf(finding));
    const { data } = (await publisher.call("GET", `/v1/posts/${id}/timeline`)).body;
    const waits = data.filter(({ step }: { step: string }) => step === "leg_waiting");
    expect(waits).toHaveLength(2);
    for (const { note } of waits)
      expect(note).toMatch(
        /^Nothing was published \(media_unreachable, file 2: "The server answers with HTTP 404: it has no file at this URL\."\)\. The relay tries again at \S+Z\.$/,
      );
  },
);

test("a leg warns of a changed picture at the same place as a validation", async () => {
  const publisher = await aPublisher(relay, ["facebook"]);
  const mediaUrls = [
    "https://media.sandbox.test/photo.jpg",
    "https://media.sandbox.test/photo.webp",
  ];
  const body = { text: unique("Converted"), mediaUrls, platforms: ["facebook"] };
  const validated = await publisher.call("POST", "/v1/posts/validate?media=true", { body });
  const { warnings } = validated.body.data.platforms.facebook;
  const { id } = await publisher.accept(body);
  const { legs } = await publisher.settle(id);
  expect(warnings.map(placeOf)).toContainEqual(
    expect.objectContaining({ code: "image_changed", field: "mediaUrls", mediaIndex: 1 }),
  );
  expect(legs[0].warnings.map(placeOf)).toEqual(warnings.map(placeOf));
});
