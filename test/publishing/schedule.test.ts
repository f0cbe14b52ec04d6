import { describe, expect, test } from "vitest";
import { chargeTogether } from "../../src/shared/ledger/ledger.ts";
import { startPost } from "../../src/shared/publishing/schedule/start-post.ts";
import { aCharge } from "../setup/a-charge.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, uniqueKey, type Publisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { enqueueDuePosts } from "../setup/walks.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const { relay, visible } = useSandboxedRelay();

const ahead = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();

/** The timer's run and what it sent. */
async function tick(): Promise<void> {
  await enqueueDuePosts(relay.services);
  await relay.drain();
}

async function schedule(publisher: Publisher, more: object = {}) {
  const text = unique("Scheduled");
  const body = { text, platforms: ["bluesky"], scheduleAt: ahead(10 * MINUTE), ...more };
  const answer = await publisher.submit(body);
  expect(answer.status).toBe(201);
  return { text, post: dataOf(answer) };
}

/** As the queue hands it over, at whatever time. */
const fire = ({ owner }: Publisher, post: { id: string; scheduleAt: string }) =>
  startPost(relay.services.publishing, { ...owner, postId: post.id, dueAt: post.scheduleAt });

describe("a scheduled post", () => {
  test("a scheduled post costs 2 tokens when it is stored, and is published and charged when it is due", async () => {
    const publisher = await aPublisher(relay);
    const before = await publisher.balance();
    const { text, post } = await schedule(publisher);
    expect(post).toMatchObject({ status: "scheduled", startedAt: null, tokens: { reserved: 0 } });
    expect(await publisher.balance()).toMatchObject({
      tokenBalance: before.tokenBalance - 2,
      tokenReserved: 0,
    });
    await tick();
    relay.advance(9 * MINUTE);
    await tick();
    expect(visible(text)).toHaveLength(0);
    relay.advance(MINUTE);
    await relay.drain();
    const published = await publisher.settle(post.id);
    expect(published).toMatchObject({ status: "succeeded", tokens: { charged: 10 } });
    expect(Date.parse(published.startedAt) - Date.parse(post.scheduleAt)).toBeLessThan(MINUTE);
    expect(visible(text)).toHaveLength(1);
    expect(await publisher.balance()).toMatchObject({
      tokenBalance: before.tokenBalance - 12,
      tokenReserved: 0,
    });
  });

  test("a scheduled post never starts early, and starts once for any number of hints", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await schedule(publisher);
    await fire(publisher, post);
    expect((await publisher.read(post.id)).status).toBe("scheduled");
    relay.advance(10 * MINUTE);
    await Promise.all([fire(publisher, post), fire(publisher, post), fire(publisher, post)]);
    await fire(publisher, post);
    const published = await publisher.settle(post.id);
    expect(published.tokens).toEqual({ reserved: 0, charged: 10, released: 0 });
    expect(visible(text)).toHaveLength(1);
  });

  test("a scheduled post is published after an outage of hours, and its lost hint is sent again", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await schedule(publisher);
    relay.advance(3 * HOUR);
    relay.queues.onSend = () => "lose";
    await tick();
    relay.queues.onSend = () => "keep";
    for (let run = 0; run < 5; run += 1) {
      relay.advance(MINUTE);
      await tick();
    }
    await publisher.settle(post.id);
    expect(visible(text)).toHaveLength(1);
  });

  test("a post that is due within the minute is published to the second, whenever the timer ran", async () => {
    const publisher = await aPublisher(relay);
    const { post } = await schedule(publisher, { scheduleAt: ahead(20_000) });
    relay.advance(21_000);
    const published = await publisher.settle(post.id);
    expect(published.status).toBe("succeeded");
    expect(Date.parse(published.startedAt) - Date.parse(post.scheduleAt)).toBeLessThan(2_000);
  });

  test("a scheduled post that is more than a day late fails as missed and costs nothing more", async () => {
    const publisher = await aPublisher(relay);
    const { post } = await schedule(publisher);
    relay.advance(25 * HOUR);
    await fire(publisher, post);
    expect(await publisher.read(post.id)).toMatchObject({
      status: "failed",
      tokens: { reserved: 0, charged: 0 },
      legs: [{ error: { code: "schedule_missed" }, retryAvailable: true }],
    });
  });

  test("a scheduled post is checked with the accounts that are linked when it starts", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const { post } = await schedule(publisher, { platforms: ["bluesky", "mastodon"] });
    expect(post.legs.map((leg: { status: string }) => leg.status)).toEqual(["pending", "pending"]);
    relay.advance(11 * MINUTE);
    await fire(publisher, post);
    expect(await publisher.settle(post.id)).toMatchObject({
      status: "partial",
      legs: [{ status: "succeeded" }, { error: { code: "connection_missing" } }],
    });
  });

  test("a scheduled post fails if tokens are missing when it starts, and a retry is published once there are tokens", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await schedule(publisher);
    const { tokenBalance } = await publisher.balance();
    await chargeTogether(relay.services.ledger, publisher.owner.platformId, [
      aCharge(uniqueKey(), tokenBalance - 5, { operation: "posts.schedule" }),
    ]);
    relay.advance(11 * MINUTE);
    await fire(publisher, post);
    expect(await publisher.read(post.id)).toMatchObject({
      status: "failed",
      legs: [{ error: { code: "insufficient_tokens" }, retryAvailable: true }],
    });
    const { platformId } = publisher.owner;
    const credit = { operator: ["Admin"], body: { platformId, tokens: 100 } };
    dataOf(await relay.call("POST", "/v1/billing/admin/credit", credit));
    await publisher.retry(post.id);
    expect(await publisher.settle(post.id)).toMatchObject({ status: "succeeded" });
    expect(visible(text)).toHaveLength(1);
  });

  test("a scheduled post of a disabled profile or application is skipped with the reason", async () => {
    const publisher = await aPublisher(relay);
    const first = await schedule(publisher);
    const second = await schedule(publisher);
    const { key, headers, application } = publisher;
    await relay.call("DELETE", `/v1/profiles/${publisher.profileId}`, { key });
    relay.advance(11 * MINUTE);
    await fire(publisher, first.post);
    expect(await publisher.read(first.post.id)).toMatchObject({
      status: "failed",
      legs: [{ status: "skipped", error: { code: "profile_disabled" } }],
    });
    const { session } = application.platform;
    const disable = { session, body: { status: "disabled" } };
    dataOf(await relay.call("PATCH", `/v1/applications/${application.id}`, disable));
    await fire(publisher, second.post);
    const read = { session, headers };
    expect(dataOf(await relay.call("GET", `/v1/posts/${second.post.id}`, read))).toMatchObject({
      legs: [{ status: "skipped", error: { code: "application_disabled" } }],
    });
    expect(await publisher.call("GET", `/v1/posts/${second.post.id}`)).toMatchObject({
      status: 403,
    });
  });

  test("a scheduled post of a suspended platform waits and is published when the platform is active again", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await schedule(publisher);
    const path = `/v1/admin/platforms/${publisher.owner.platformId}`;
    const set = (status: string) =>
      relay.call("PATCH", path, { operator: ["Admin"], body: { status } });
    dataOf(await set("suspended"));
    relay.advance(11 * MINUTE);
    await tick();
    relay.advance(5 * MINUTE);
    await tick();
    expect(visible(text)).toHaveLength(0);
    dataOf(await set("active"));
    for (let run = 0; run < 8; run += 1) {
      relay.advance(MINUTE);
      await tick();
    }
    await publisher.settle(post.id);
    expect(visible(text)).toHaveLength(1);
  });

  test.each([
    ["in the past", () => ahead(-MINUTE)],
    ["within ten seconds", () => ahead(9_000)],
    ["more than a year ahead", () => ahead(366 * 24 * HOUR)],
    ["without an offset", () => "2030-01-01T09:00:00"],
    ["that is no date", () => "2030-02-30T09:00:00Z"],
  ])("a time %s is refused with the field's name", async (_, scheduleAt) => {
    const publisher = await aPublisher(relay, []);
    const body = { text: "Hello", platforms: ["bluesky"], scheduleAt: scheduleAt() };
    const answer = await publisher.submit(body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_failed" } } });
    expect(answer.body.error.details.issues[0].path).toBe("scheduleAt");
  });

  test("a repeated request returns its scheduled post even after the post's time has passed", async () => {
    const publisher = await aPublisher(relay);
    const key = uniqueKey();
    const body = { text: unique("Again"), platforms: ["bluesky"], scheduleAt: ahead(MINUTE) };
    const first = await publisher.submit(body, key);
    relay.advance(2 * MINUTE);
    const again = await publisher.submit(body, key);
    expect(again.status).toBe(201);
    expect(dataOf(again).id).toBe(dataOf(first).id);
  });
});

describe("a change of a scheduled post", () => {
  test("a changed post is published once, with the new text at the new time", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await schedule(publisher);
    const newText = unique("Changed");
    const changed = await publisher.change(post.id, {
      text: newText,
      scheduleAt: ahead(30 * MINUTE),
      platforms: ["mastodon"],
    });
    expect(dataOf(changed)).toMatchObject({ status: "scheduled", text: newText });
    expect(await publisher.read(post.id)).toEqual(dataOf(changed));
    relay.advance(12 * MINUTE);
    await fire(publisher, post);
    await tick();
    expect((await publisher.read(post.id)).status).toBe("scheduled");
    for (let run = 0; run < 20; run += 1) {
      relay.advance(MINUTE);
      await tick();
    }
    expect(await publisher.settle(post.id)).toMatchObject({
      status: "succeeded",
      platforms: ["mastodon"],
      legs: [{ platform: "mastodon" }],
    });
    expect(visible(newText)).toHaveLength(1);
    expect(visible(text)).toHaveLength(0);
  });

  test("a change that no network could publish, or that contradicts itself, changes nothing", async () => {
    const publisher = await aPublisher(relay);
    const { post } = await schedule(publisher);
    const tooLong = await publisher.change(post.id, { text: "x".repeat(400) });
    expect(tooLong).toMatchObject({ status: 422, body: { error: { code: "not_publishable" } } });
    const foreign = await publisher.change(post.id, { platformOptions: { mastodon: {} } });
    expect(foreign).toMatchObject({ status: 400 });
    expect(foreign.body.error.details.issues[0].path).toBe("platformOptions.mastodon");
    expect(await publisher.read(post.id)).toEqual(post);
  });

  test("a change and a cancel are refused once the post has started", async () => {
    const publisher = await aPublisher(relay);
    const { post } = await schedule(publisher);
    relay.advance(11 * MINUTE);
    await fire(publisher, post);
    const refused = { status: 409, body: { error: { code: "invalid_state" } } };
    expect(await publisher.change(post.id, { text: "Late" })).toMatchObject(refused);
    expect(await publisher.cancel(post.id)).toMatchObject(refused);
  });
});

describe("a change in the second in which the post starts", () => {
  test.each([
    ["its text", () => ({})],
    ["its text and its time", () => ({ scheduleAt: ahead(20 * MINUTE) })],
  ])("a change of %s while a post starts is published once, as answered", async (_, more) => {
    const publisher = await aPublisher(relay);
    for (let round = 0; round < 6; round += 1) {
      const { text, post } = await schedule(publisher);
      const newText = unique("Changed");
      relay.advance(10 * MINUTE);
      const change = () => publisher.change(post.id, { text: newText, ...more() });
      const [changed] = await (round % 2 === 0
        ? Promise.all([change(), fire(publisher, post)])
        : Promise.all([fire(publisher, post), change()]).then(([, answer]) => [answer]));
      const isChanged = changed?.status === 200;
      if (!isChanged)
        expect(changed).toMatchObject({ status: 409, body: { error: { code: "invalid_state" } } });
      await tick();
      relay.advance(25 * MINUTE);
      await tick();
      const ended = await publisher.settle(post.id);
      expect(ended).toMatchObject({ status: "succeeded", text: isChanged ? newText : text });
      expect([visible(text).length, visible(newText).length]).toEqual(isChanged ? [0, 1] : [1, 0]);
    }
  });
});

test("of simultaneous changes of a post's networks one wins, and the others are refused", async () => {
  const publisher = await aPublisher(relay, ["bluesky", "mastodon"]);
  const { post } = await schedule(publisher, { platforms: ["bluesky", "mastodon"] });
  const wanted = [["mastodon"], ["bluesky"], ["mastodon", "bluesky"]];
  const answers = await Promise.all(
    wanted.map((platforms) => publisher.change(post.id, { platforms })),
  );
  const told = answers.map(({ status, body }) => `${status} ${body.error?.code ?? ""}`);
  told.sort();
  expect(told).toEqual(["200 ", "409 invalid_state", "409 invalid_state"]);
  const won = wanted[answers.findIndex(({ status }) => status === 200)];
  expect(await publisher.read(post.id)).toMatchObject({ platforms: won });
});

describe("a cancel", () => {
  test("a cancel skips every leg, charges nothing more, and nothing is published", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await schedule(publisher);
    // Not what is counted by the day, which may end meanwhile.
    const { available, tokenBalance, tokenReserved } = await publisher.balance();
    expect(dataOf(await publisher.cancel(post.id))).toMatchObject({
      status: "canceled",
      legs: [{ status: "skipped", error: { code: "canceled" } }],
    });
    relay.advance(11 * MINUTE);
    await fire(publisher, post);
    await tick();
    expect(await publisher.read(post.id)).toMatchObject({ status: "canceled" });
    expect(visible(text)).toHaveLength(0);
    const unchanged = { available, tokenBalance, tokenReserved };
    expect(await publisher.balance()).toMatchObject(unchanged);
  });

  test("of a cancel and a start at the same moment one wins", async () => {
    const publisher = await aPublisher(relay);
    for (let round = 0; round < 10; round += 1) {
      const { text, post } = await schedule(publisher);
      relay.advance(11 * MINUTE);
      const [canceled] = await Promise.all([publisher.cancel(post.id), fire(publisher, post)]);
      const ended = await publisher.settle(post.id);
      const isCanceled = canceled.status === 200;
      expect(ended.status).toBe(isCanceled ? "canceled" : "succeeded");
      expect(visible(text)).toHaveLength(isCanceled ? 0 : 1);
    }
  });
});

describe("the timer", () => {
  test("the timer hints every post of a minute, page after page, and goes on only when all were hinted", async () => {
    const publisher = await aPublisher(relay);
    const scheduleAt = ahead(10 * MINUTE);
    const posts = [];
    for (let index = 0; index < 5; index += 1)
      posts.push((await schedule(publisher, { scheduleAt })).post);
    relay.advance(20 * MINUTE);
    let sends = 0;
    relay.queues.onSend = (message) =>
      "dueAt" in message && (sends += 1) % 2 === 0 ? "lose" : "keep";
    await tick();
    relay.queues.onSend = () => "keep";
    for (let run = 0; run < 4; run += 1) {
      relay.advance(2 * MINUTE);
      await tick();
    }
    for (const post of posts) expect((await publisher.settle(post.id)).status).toBe("succeeded");
  });
});

describe("the timeline", () => {
  test("the timeline lists the steps of a post in order, without secrets", async () => {
    const publisher = await aPublisher(relay);
    const { post } = await schedule(publisher, { platforms: ["bluesky", "mastodon"] });
    relay.advance(11 * MINUTE);
    await fire(publisher, post);
    await publisher.settle(post.id);
    const steps = dataOf(await publisher.call("GET", `/v1/posts/${post.id}/timeline`));
    const names = steps.map((step: { step: string }) => step.step);
    expect(names.slice(0, 2)).toEqual(["accepted", "scheduled"]);
    for (const name of ["fired", "reserved", "leg_claimed", "network_call", "leg_settled"])
      expect(names).toContain(name);
    expect(names.at(-1)).toBe("completed");
    const times = steps.map((step: { at: string }) => step.at);
    expect(times).toEqual(times.toSorted());
    const call = steps.find((step: { step: string }) => step.step === "network_call");
    expect(call).toMatchObject({ networkStatus: 200, durationMs: expect.any(Number) });
    expect(JSON.stringify(steps)).not.toMatch(/eyJ|Bearer|token=/);
  });
});
