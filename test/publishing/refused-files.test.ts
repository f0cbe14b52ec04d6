import { expect, test } from "vitest";
import type { GivenAnswer } from "../../sandbox/faults.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay, sandbox, visible } = useSandboxedRelay(DEMO_APPS);

const REFUSED: GivenAnswer = {
  status: 400,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    error: {
      message: "Problem with file. Try with another file.",
      type: "OAuthException",
      code: 6000,
    },
  }),
  isAfter: false,
  contains: "finish",
};

/** Publishes a reel whose publication Facebook refuses this often, because of the file. */
async function publishReel(refusals: number) {
  sandbox.reset();
  const publisher = await aPublisher(relay, ["facebook"]);
  sandbox.fault("facebook", "videoReels", REFUSED, refusals);
  const text = unique("Reel");
  const mediaUrls = ["https://media.sandbox.test/clip.mp4"];
  const { id } = await publisher.accept({ text, mediaUrls, platforms: ["facebook"] });
  const { legs } = await publisher.settle(id);
  const uploads = sandbox.requests().filter(({ route }) => route === "upload").length;
  const refused = sandbox.requests().filter(({ status }) => status === REFUSED.status).length;
  return { leg: legs[0], uploads, refused, count: visible(text).length };
}

test("a file that the network refused, in doubt, is uploaded again and published once", async () => {
  const { leg, uploads, count } = await publishReel(1);
  expect(leg).toMatchObject({ status: "succeeded" });
  expect([uploads, count]).toEqual([2, 1]);
});

test("a file that the network refuses again ends the leg, as a fault of the file", async () => {
  const { leg, uploads, refused, count } = await publishReel(100);
  expect(leg).toMatchObject({ status: "failed", error: { code: "media_processing_failed" } });
  expect([uploads, refused, count]).toEqual([2, 2, 0]);
});
