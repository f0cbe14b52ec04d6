import { expect, test } from "vitest";
import { REFUSAL_CODES } from "../../sandbox/faults.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay(DEMO_APPS);

/** Facebook says of few refusals that they come before the post is made. */
const FACEBOOK_PROVES = ["permission_missing"];

/** Returns the leg after so many virtual seconds, or as soon as it has ended. */
async function legWithin(publisher: Publisher, id: string, secondsMax: number) {
  for (let second = 0; ; second += 1) {
    await relay.drain();
    const [leg] = (await publisher.read(id)).legs;
    if (leg.status === "failed" || second === secondsMax) return leg;
    relay.advance(1_000);
  }
}

async function refused(network: (typeof NETWORK_NAMES)[number], word: string) {
  const publisher = await aPublisher(relay, [network]);
  const text = unique(word);
  const mediaUrls = ["https://media.sandbox.test/photo.jpg"];
  const { id } = await publisher.accept({ text, mediaUrls, platforms: [network] });
  return { publisher, id };
}

const waitsOf = async (publisher: Publisher, id: string) =>
  (await publisher.call("GET", `/v1/posts/${id}/timeline`)).body.data.filter(
    ({ step }: { step: string }) => step === "leg_waiting",
  );

test.each(NETWORK_NAMES)(
  "a leg that a magic word has refused on %s ends within seconds, or its timeline says what it waits for",
  async (network) => {
    const before = relay.logLines.length;
    for (const code of REFUSAL_CODES) {
      const { publisher, id } = await refused(network, `Refused [fail:${code}]`);
      const isProof = network !== "facebook" || FACEBOOK_PROVES.includes(code);
      const leg = await legWithin(publisher, id, isProof ? 2 : 65);
      expect([code, leg.status, leg.error?.code]).toEqual([code, "failed", expect.anything()]);
      expect([code, leg.error.code]).not.toEqual([code, "outcome_unknown"]);
      const waits = await waitsOf(publisher, id);
      expect([code, waits.length > 0]).toEqual([code, !isProof]);
      for (const { note } of waits)
        expect(note).toMatch(
          /^The network refused, which doesn't prove that the post wasn't published\. The relay checks the account for the post at \S+Z\./,
        );
      // Many accounts that are refused within minutes would be the app's fault.
      relay.advance(11 * 60_000);
    }
    const warnings = relay.logLines.slice(before).filter((line) => /"level":"warn"/.test(line));
    expect(warnings).toEqual([]);
  },
);

test("the timeline of a leg whose answer was lost says that the relay checks the account, and when", async () => {
  const { publisher, id } = await refused("mastodon", "Lost [drop-answer]");
  await relay.drain();
  const [wait] = await waitsOf(publisher, id);
  expect(wait).toMatchObject({ outcome: "sent", platform: "mastodon" });
  expect(wait.note).toMatch(
    /^The network's answer was lost or doesn't say whether the post was published\. The relay checks the account for the post at \S+Z\.$/,
  );
});

test("the timeline of a leg that is tried again says that nothing was published, and when", async () => {
  const { publisher, id } = await refused("instagram", "Slow down [fail:rate_limited:1]");
  await relay.drain();
  const [wait] = await waitsOf(publisher, id);
  expect(wait.note).toMatch(
    /^Nothing was published \(rate_limited(?:, file 1)?(?:: ".+")?\)\. The relay tries again at \S+Z\.$/,
  );
});

test.each(["[fail:text_invalid]", "[answer:text-wanted]"])(
  "the refusal of a post with a text is not explained by a missing text: %s",
  async (word) => {
    const { publisher, id } = await refused("mastodon", word);
    const leg = await legWithin(publisher, id, 65);
    expect(leg.error).toMatchObject({ code: "text_invalid", rule: null });
  },
);
