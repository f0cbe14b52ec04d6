import { expect, test } from "vitest";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { setLimits } from "../setup/stored.ts";

const { relay, sandbox, visible } = useSandboxedRelay();

const LONG = "Rolls in a basket, ".repeat(500);
const IMAGE = "https://media.sandbox.test/photo.jpg";
const bodyOf = (text: string) => ({
  text,
  platforms: ["bluesky", "mastodon"],
  mediaUrls: [IMAGE],
  altTexts: [LONG],
  platformOptions: { bluesky: { altTexts: ["A basket"] } },
});

test("an alternative text that is too long for a network is published shorter, and the leg says so", async () => {
  const publisher = await aPublisher(relay);
  const text = unique("Described");
  const call = { body: bodyOf(text) };
  const { valid, platforms } = dataOf(await publisher.call("POST", "/v1/posts/validate", call));
  expect([valid, platforms.bluesky.warnings]).toEqual([true, []]);
  expect(platforms.mastodon.warnings).toMatchObject([
    { code: "alt_text_shortened", rule: "mastodon.altText.shortened", mediaIndex: 0 },
  ]);

  const accepted = await publisher.accept(bodyOf(text));
  const post = await publisher.settle(accepted.id);
  expect(post.status).toBe("succeeded");
  const warned = post.legs.map((leg: { warnings: { code: string }[] }) =>
    leg.warnings.map(({ code }) => code).filter((code) => code === "alt_text_shortened"),
  );
  expect(warned).toEqual([[], ["alt_text_shortened"]]);
  const shown = visible(text).map(({ media }) => media[0]?.alt ?? "");
  const [short, cut = ""] = [...shown].sort((one, other) => one.length - other.length);
  expect(short).toBe("A basket");
  expect(cut.length).toBeLessThanOrEqual(1_500);
  expect(cut).toMatch(/^(?:Rolls in a basket, )+(?:\w+ ?)*,?…$/);
});

test("a limit that shrank since the post was accepted is kept, and the leg says so", async () => {
  const publisher = await aPublisher(relay, ["mastodon"]);
  const text = unique("Small server");
  const body = {
    ...bodyOf(text),
    platforms: ["mastodon"],
    altTexts: [LONG.slice(0, 1_200)],
    platformOptions: {},
  };
  const accepted = await publisher.accept(body);
  await setLimits(relay.services, publisher.owner, "mastodon", { altTextMax: 100 });
  const post = await publisher.settle(accepted.id);
  expect(post.legs[0].warnings).toMatchObject([{ code: "alt_text_shortened" }]);
  expect(sandbox.posts("mastodon").find((one) => one.text === text)?.media[0]?.alt).toMatch(
    /^.{80,99}…$/,
  );
});

test("a file's real type may allow a shorter alternative text only, and the leg says so", async () => {
  // Tokens for the video service are made by the relay's clock.
  sandbox.advance(relay.clock.now().getTime() - Date.now());
  const publisher = await aPublisher(relay, ["bluesky"]);
  const text = unique("Moving");
  const body = {
    text,
    platforms: ["bluesky"],
    mediaUrls: ["https://media.sandbox.test/animation.gif"],
    altTexts: [LONG.slice(0, 1_800)],
  };
  const accepted = await publisher.accept(body);
  expect(accepted.legs[0].warnings).toEqual([]);
  const post = await publisher.settle(accepted.id);
  expect(post.legs[0].warnings).toMatchObject([{ code: "alt_text_shortened" }]);
  expect(visible(text)[0]?.media[0]?.alt?.length).toBeLessThanOrEqual(1_000);
});
