import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../dev/networks/linkedin/state.ts";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { createNetworkTools } from "../../src/shared/connect/network-tools.ts";
import { newId } from "../../src/shared/ids.ts";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { AuthorKind } from "../../src/shared/networks/linkedin/state.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, settlePost, submitPost, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";

let sandbox: Sandbox;
let relay: Relay;

beforeAll(async () => {
  sandbox = await startSandbox();
  relay = await startRelay({
    memoryQueues: true,
    settings: {
      ...sandboxSettings(sandbox, sandbox.url),
      LINKEDIN_CLIENT_ID: DEMO_LINKEDIN_APP.id,
      LINKEDIN_CLIENT_SECRET: DEMO_LINKEDIN_APP.secret,
      LINKEDIN_ORG_CLIENT_ID: DEMO_LINKEDIN_ORG_APP.id,
      LINKEDIN_ORG_CLIENT_SECRET: DEMO_LINKEDIN_ORG_APP.secret,
    },
  });
});
afterAll(async () => {
  await relay.stop();
  await sandbox.stop();
});

async function publisherAs(kind: AuthorKind): Promise<Publisher> {
  const publisher = await aPublisher(relay, []);
  const { services } = relay;
  const tools = createNetworkTools(services, "linkedin");
  const redirectUri = "http://127.0.0.1:1/callback";
  const started = await linkedin.link.start(
    { kind },
    { redirectUri, state: "state", codeChallenge: "" },
    tools,
  );
  if (started.kind === "failed") throw new Error(started.code);
  const left = await fetch(services.outbound.browserUrl(started.url), {
    method: "POST",
    body: new URLSearchParams({ decision: "allow" }),
    redirect: "manual",
  });
  const params = Object.fromEntries(new URL(left.headers.get("location") ?? "").searchParams);
  const callback = { params, codeVerifier: "", redirectUri, flow: started.flow };
  const outcome = await linkedin.link.finish(callback, tools);
  if (outcome.kind !== "linked") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  const id = newId("connection", services.clock.now());
  const { linked } = outcome;
  await services.connections.saveLinked({ ...publisher.owner, id, network: "linkedin", linked });
  return publisher;
}

async function publish(publisher: Publisher, body: object) {
  const accepted = await submitPost(relay, publisher, { ...body, platforms: ["linkedin"] });
  const post = await settlePost(relay, publisher, dataOf(accepted).id);
  return { post, leg: post.legs[0] };
}

const visible = (text: string) => sandbox.posts("linkedin").filter((post) => post.text === text);

describe.each(["member", "organization"] as const)("a LinkedIn leg (%s)", (kind) => {
  it("is published with its files, however often it has to be looked at", async () => {
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

  it.each(["[drop-before]", "[drop-answer]", "[error-after]"])(
    "is published once and paid for once after %s",
    async (word) => {
      const publisher = await publisherAs(kind);
      const text = unique(`Trouble ${word}`);
      const { leg } = await publish(publisher, {
        text,
        mediaUrls: ["https://media.sandbox.test/photo.jpg"],
      });
      expect(leg).toMatchObject({ status: "succeeded", tokensCharged: 10 });
      expect(visible(text)).toMatchObject([{ id: leg.networkPostId }]);
    },
  );
});

it("a member's leg whose every answer is lost may be live, and says so", async () => {
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

it("an invalid leg is told before anything is sent", async () => {
  const publisher = await publisherAs("member");
  const answer = await submitPost(relay, publisher, {
    text: unique("Read"),
    platforms: ["linkedin"],
    mediaUrls: ["https://media.sandbox.test/report.pdf"],
  });
  expect(answer.status).toBe(422);
  expect(JSON.stringify(answer)).toContain("linkedin.document.title");
});
