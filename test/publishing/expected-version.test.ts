import { beforeAll, describe, expect, test } from "vitest";
import { startPost } from "../../src/shared/publishing/schedule/start-post.ts";
import { updatePost } from "../../src/shared/publishing/schedule/change-scheduled.ts";
import { dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { useRelay } from "../setup/use-relay.ts";

const MINUTE = 60_000;
const CONFLICT = {
  status: 409,
  body: {
    error: { code: "conflict", message: "The post was changed since you read it. Read it again." },
  },
};
/** Another process of the deployment. */
/** What happens before the other process commits. */
let beforeCommit: (() => Promise<unknown>) | undefined;

const { relay } = useSandboxedRelay();
const instance = useRelay({ sameDeploymentAs: relay });
beforeAll(async () => {
  replaceIn(instance.services.ledger.partitions, (former) => ({
    commit: async (...given) => {
      const happen = beforeCommit;
      beforeCommit = undefined;
      await happen?.();
      return former.commit(...given);
    },
  }));
});

async function schedule(publisher: Publisher, more: object = {}) {
  const scheduleAt = new Date(relay.clock.now().getTime() + 10 * MINUTE).toISOString();
  const body = { text: unique("Edited"), platforms: ["bluesky"], scheduleAt, ...more };
  return await publisher.accept(body);
}

/** The events of the publisher's application so far, in their order. */
async function eventsOf({ key }: Publisher) {
  await relay.drain();
  relay.advance(MINUTE);
  return dataOf(await relay.call("GET", "/v1/events", { key }));
}

describe("a change that expects a version", () => {
  test("a change that expects a version applies to it, and is refused without effect once there is a later one", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher);
    const expectedUpdatedAt = post.updatedAt;
    const changed = dataOf(await publisher.change(post.id, { externalId: "1", expectedUpdatedAt }));
    expect(changed).toMatchObject({ externalId: "1", text: post.text });
    expect(changed.updatedAt > post.updatedAt).toBe(true);
    const late = { externalId: "2", expectedUpdatedAt };
    expect(await publisher.change(post.id, late)).toMatchObject(CONFLICT);
    expect(await publisher.read(post.id)).toEqual(changed);
    expect(await publisher.change(post.id, { externalId: "3" })).toMatchObject({ status: 200 });
  });

  test("an expected version may be in any notation of time, and is compared before the post's rules", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher, { mediaUrls: ["https://files.example.com/a.jpg"] });
    const sameTime = post.updatedAt.replace("Z", "+00:00");
    const cleared = { mediaUrls: [], expectedUpdatedAt: sameTime };
    expect(await publisher.change(post.id, cleared)).toMatchObject({ status: 200 });
    const about = { altTexts: ["A picture"], expectedUpdatedAt: sameTime };
    expect(await publisher.change(post.id, about)).toMatchObject(CONFLICT);
  });

  test.each([null, "", "yesterday", 5])("refuses the version %j", async (given) => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher);
    const refused = await publisher.change(post.id, { expectedUpdatedAt: given });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "validation_failed" } } });
    expect(refused.body.error.details.issues[0].path).toBe("expectedUpdatedAt");
    expect(await publisher.read(post.id)).toEqual(post);
  });

  test("a change that expects a version is refused as invalid_state once the post has started", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher);
    relay.advance(11 * MINUTE);
    await startPost(relay.services.publishing, {
      ...publisher.owner,
      postId: post.id,
      dueAt: post.scheduleAt,
    });
    const late = { text: unique("Late"), expectedUpdatedAt: post.updatedAt };
    expect(outcomeOf(await publisher.change(post.id, late))).toBe("409 invalid_state");
  });
});

describe("the report of a change", () => {
  test("the report of a change precedes that of a leg that it makes fail, and a refused change has none", async () => {
    const publisher = await aPublisher(relay);
    const post = await schedule(publisher, { platforms: ["bluesky", "mastodon"] });
    // More than Bluesky takes, not more than Mastodon does; then more than any of the two.
    expect(outcomeOf(await publisher.change(post.id, { text: "x".repeat(400) }))).toBe("200");
    const refused = await publisher.change(post.id, { text: "x".repeat(4_000) });
    expect(outcomeOf(refused)).toBe("422 not_publishable");
    expect(await eventsOf(publisher)).toMatchObject([
      { type: "post.scheduled", sequence: 1 },
      { type: "post.updated", sequence: 2, data: { post: { text: "x".repeat(400) } } },
      { type: "leg.failed", sequence: 3, data: { leg: { platform: "bluesky" } } },
    ]);
  });
});

describe("two processes that change a post", () => {
  test("a process whose version is replaced after it read the post is refused", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher);
    const expectedUpdatedAt = post.updatedAt;
    beforeCommit = () => publisher.change(post.id, { externalId: "first", expectedUpdatedAt });
    const second = { externalId: "second", expectedUpdatedAt };
    expect(await publisher.at(instance).change(post.id, second)).toMatchObject(CONFLICT);
    expect((await publisher.read(post.id)).externalId).toBe("first");
  });

  test("a process that is overtaken by the start of the post is refused", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher);
    relay.advance(11 * MINUTE);
    const hint = { ...publisher.owner, postId: post.id, dueAt: post.scheduleAt };
    beforeCommit = () => startPost(relay.services.publishing, hint);
    const late = { externalId: "late", expectedUpdatedAt: post.updatedAt };
    expect(outcomeOf(await publisher.at(instance).change(post.id, late))).toBe("409 invalid_state");
    expect((await publisher.read(post.id)).externalId).toBeNull();
  });

  test("of many changes of the same version by two processes, one wins, and that change alone is reported", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher);
    const expectedUpdatedAt = post.updatedAt;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => {
        const body = { externalId: `${index}`, expectedUpdatedAt };
        return publisher.at(index % 2 === 0 ? relay : instance).change(post.id, body);
      }),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expect(answer).toMatchObject(CONFLICT);
    const [changed] = won.map(dataOf);
    expect(await publisher.read(post.id)).toEqual(changed);
    const events = await eventsOf(publisher);
    expect(events).toMatchObject([
      { type: "post.scheduled", sequence: 1 },
      { type: "post.updated", sequence: 2 },
    ]);
    expect(events[1].data).toEqual({ post: changed });
  });

  test("a process whose clock is behind makes a later version nevertheless", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const post = await schedule(publisher);
    const clock = { now: () => new Date(Date.parse(post.createdAt) - 5_000) };
    const caller = { kind: "system", worker: "test" } as const;
    const scope = { ...publisher.owner, caller, requestId: "req_test", ip: "" };
    const made = [];
    for (let count = 0; count < 2; count += 1)
      made.push(
        await updatePost(relay.another({ clock }).publishing, scope, {
          postId: post.id,
          change: { externalId: `${count}` },
        }),
      );
    const times = [post, ...made].map(({ updatedAt }) => Date.parse(updatedAt));
    expect(times).toEqual([0, 1, 2].map((later) => Date.parse(post.updatedAt) + later));
  });
});
