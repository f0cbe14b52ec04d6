import { describe, expect, test } from "vitest";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../dev/networks/linkedin/state.ts";
import type { Sandbox } from "../../dev/networks/server.ts";
import type { AuthorKind } from "../../src/shared/networks/linkedin/state.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, settlePost, submitPost, unique, type Publisher } from "../setup/publisher.ts";
import type { Relay } from "../setup/relay.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

let sandbox: Sandbox;
let relay: Relay;

useSandboxedRelay(
  (started) => {
    ({ relay, sandbox } = started);
  },
  {
    LINKEDIN_CLIENT_ID: DEMO_LINKEDIN_APP.id,
    LINKEDIN_CLIENT_SECRET: DEMO_LINKEDIN_APP.secret,
    LINKEDIN_ORG_CLIENT_ID: DEMO_LINKEDIN_ORG_APP.id,
    LINKEDIN_ORG_CLIENT_SECRET: DEMO_LINKEDIN_ORG_APP.secret,
  },
);

async function publisherAs(kind: AuthorKind): Promise<Publisher> {
  const publisher = await aPublisher(relay, []);
  await linkSandboxAccount(relay.services, publisher.owner, "linkedin", { form: { kind } });
  return publisher;
}

async function publish(publisher: Publisher, body: object) {
  const accepted = await submitPost(relay, publisher, { ...body, platforms: ["linkedin"] });
  const post = await settlePost(relay, publisher, dataOf(accepted).id);
  return { post, leg: post.legs[0] };
}

const visible = (text: string) => sandbox.posts("linkedin").filter((post) => post.text === text);

describe.each(["member", "organization"] as const)("a LinkedIn leg (%s)", (kind) => {
  test("is published with its files, however often it has to be looked at", async () => {
    const publisher = await publisherAs(kind);
    const text = unique("Look (all) #here");
    const { leg } = await publish(publisher, {
      text,
      mediaUrls: ["https://media.sandbox.test/photo.jpg", "https://media.sandbox.test/photo.png"],
      altTexts: ["A lake", null],
    });
    expect(leg).toMatchObject({ status: "succeeded", attempts: 1, tokensCharged: 10 });
    expect(leg.url).toMatch(/^https:\/\/www\.linkedin\.com\/feed\/update\/urn:li:/);
    expect(visible(text)).toMatchObject([
      { id: leg.networkPostId, media: [{ alt: "A lake" }, { alt: null }] },
    ]);
  });

  test.each(["[drop-before]", "[drop-answer]", "[error-after]"])(
    "is published once and paid for once after %s",
    async (word) => {
      const publisher = await publisherAs(kind);
      const text = unique(`Trouble ${word}`);
      const mediaUrls = kind === "member" ? [] : ["https://media.sandbox.test/photo.jpg"];
      const { leg } = await publish(publisher, { text, mediaUrls });
      expect(leg).toMatchObject({ status: "succeeded", tokensCharged: 10 });
      expect(visible(text)).toMatchObject([{ id: leg.networkPostId }]);
    },
  );
});

test.each([
  ["[drop-before]", 0],
  ["[drop-answer]", 1],
])("a member's leg with a file is never sent twice, and says so (%s)", async (word, live) => {
  const publisher = await publisherAs("member");
  const text = unique(`With a file ${word}`);
  const mediaUrls = ["https://media.sandbox.test/photo.jpg"];
  const { leg } = await publish(publisher, { text, mediaUrls });
  const error = { code: "outcome_unknown" };
  expect(leg).toMatchObject({ status: "failed", error, retryAvailable: true, tokensCharged: 0 });
  expect(visible(text)).toHaveLength(live);
});

test("a member's leg whose every answer is lost may be live, and says so", async () => {
  const publisher = await publisherAs("member");
  const text = unique("Lost [drop-answer:9]");
  const { leg } = await publish(publisher, { text });
  expect(leg).toMatchObject({
    status: "failed",
    error: { code: "outcome_unknown" },
    retryAvailable: true,
    tokensCharged: 0,
  });
  expect(visible(text)).toHaveLength(1);
});

test("an invalid leg is told before anything is sent", async () => {
  const publisher = await publisherAs("member");
  const answer = await submitPost(relay, publisher, {
    text: unique("Read"),
    platforms: ["linkedin"],
    mediaUrls: ["https://media.sandbox.test/report.pdf", "https://media.sandbox.test/photo.jpg"],
  });
  expect(answer.status).toBe(422);
  expect(JSON.stringify(answer)).toContain("linkedin.media.mixed");
});
