import { describe, expect, test } from "vitest";
import { chargeTogether } from "../../src/shared/ledger/ledger.ts";
import { CRASHES_MAX } from "../../src/shared/publishing/call.ts";
import { publishLegs } from "../../src/shared/publishing/publish/publish-legs.ts";
import { aPlatform, anApplication, type TestPlatform } from "../setup/factories.ts";
import { startMailedRelay, type MailedRelay } from "../setup/mail.ts";
import { aPublisher, unique, uniqueKey } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { startReceiver, status, type Receiver } from "../webhooks/receiver.ts";
import { anEndpoint, happen, readEndpoint } from "../webhooks/subscriber.ts";
import { useMailedRelay } from "../setup/use-relay.ts";
import { aCharge } from "../setup/a-charge.ts";

/** The last mail to an owner, once what happened was told. */
async function told(mailed: MailedRelay, { email }: Pick<TestPlatform, "email">) {
  await mailed.relay.drain();
  mailed.relay.advance(60_000);
  return (await mailed.mailsTo(email)).at(-1);
}

describe("owners get a mail", () => {
  const { relay: plain } = useSandboxedRelay();
  const mailed = useMailedRelay(() => ({ sameDeploymentAs: plain }));

  test("owners get a mail about a balance that fell below the mark", async () => {
    const platform = await aPlatform(plain, { tokens: 105 });
    await chargeTogether(mailed.relay.services.ledger, platform.id, [aCharge(uniqueKey(), 10)]);
    const mail = await told(mailed, platform);
    expect(mail?.subject).toContain("balance");
    expect(mail?.text).toContain("fewer than 100");
    expect(mail?.text).toContain("95 tokens available");
  });

  test("owners get a mail about a connection that its network refuses", async () => {
    const platform = await aPlatform(plain);
    const publisher = (await aPublisher(plain, ["mastodon"], platform)).at(mailed.relay);
    const text = `${unique("Refused")} [fail:connection_needs_reauth]`;
    const body = { text, platforms: ["mastodon"] };
    const post = await publisher.accept(body);
    await publisher.settle(post.id);
    const mail = await told(mailed, platform);
    expect(mail?.subject).toBe("Some accounts need to be linked again");
    expect(mail?.text).toContain("Mastodon, profile “Corner Bakery”, account “Demo Bakery”");
  });

  test("owners get a mail about a post whose outcome is unknown", async () => {
    const platform = await aPlatform(plain);
    const publisher = (await aPublisher(plain, ["bluesky"], platform)).at(mailed.relay);
    const body = { text: unique("Deadly"), platforms: ["bluesky"] };
    mailed.relay.queues.onSend = () => "lose";
    const post = await publisher.accept(body);
    mailed.relay.queues.onSend = () => "keep";
    const request = () => Promise.reject(new Error("out of memory"));
    const { outbound } = mailed.relay.services.connections;
    const dying = mailed.relay.another({ outbound: { ...outbound, request } });
    const hint = { ...publisher.owner, postId: post.id, networks: ["bluesky"] } as const;
    for (let life = 0; life < CRASHES_MAX + 3; life += 1) {
      await publishLegs(dying.publishing, hint).catch(() => undefined);
      mailed.relay.advance(121_000);
    }
    const ended = await publisher.settle(post.id);
    expect(ended).toMatchObject({ legs: [{ error: { code: "outcome_unknown" } }] });
    const mail = await told(mailed, platform);
    expect(mail?.subject).toBe("Posts ended with an unknown outcome");
    expect(mail?.text).toContain(`Bluesky, post ${post.id}, profile “Corner Bakery”`);
  });
});

test("owners get one mail about an endpoint that the relay disabled", async () => {
  const receiver: Receiver = await startReceiver();
  const plain = await startRelay({ settings: receiver.settings });
  const mailed = await startMailedRelay({ sameDeploymentAs: plain });
  const { relay } = mailed;
  const application = await anApplication(plain);
  const endpoint = await anEndpoint(plain, receiver, application);
  receiver.behave(endpoint.path, status(410));
  await happen(relay, application);
  await happen(relay, application);
  const mail = await told(mailed, application.platform);
  expect(await readEndpoint(plain, endpoint)).toMatchObject({ status: "disabled" });
  expect(mail?.subject).toBe("Webhook endpoints were disabled");
  expect(mail?.text).toMatch(
    /endpoint [a-z0-9.-]+(?::\d+)?, application “Planner”: its receiver responded with 410 Gone/,
  );
  // Its path may have a secret, and its id tells owners nothing.
  expect(mail?.text).not.toMatch(/whk_\w+/);
  expect(mail?.text).not.toContain(endpoint.path);
  await mailed.stop();
  await plain.stop();
  await receiver.stop();
});
