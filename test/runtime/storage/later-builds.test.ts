import { describe, expect, test } from "vitest";
import { legKey, postKey } from "../../../src/shared/publishing/post-store.ts";
import type { Table } from "../../../src/shared/runtime/storage/table.ts";
import { dataOf } from "../../setup/factories.ts";
import { aPublisher, unique } from "../../setup/publisher.ts";
import { useSandboxedRelay } from "../../setup/sandboxed-relay.ts";
import { sweepStalledLegs } from "../../setup/walks.ts";
import { forFile } from "../../setup/for-file.ts";

// While a version replaces the one before, each meets rows of the other. What the older one does not know it shows
// where it can, and leaves alone.

const { relay } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay, ["mastodon"]));

interface Submitted {
  readonly id: string;
  readonly text: string;
  /** Writes columns as a later build would: into the row of the post, or of its leg. */
  rewrite(row: "post" | "leg", columns: Readonly<Record<string, string>>): Promise<void>;
}

async function submitted(draft: object = {}): Promise<Submitted> {
  const text = unique("Later build");
  const accepted = await publisher.submit({ text, platforms: ["mastodon"], ...draft });
  const { id, profileId } = dataOf(accepted) as { id: string; profileId: string };
  const ref = { profileId, postId: id };
  const keys = { post: postKey(ref), leg: legKey(ref, "mastodon") };
  const core: Table = relay.tables.core;
  return {
    id,
    text,
    rewrite: (row, columns) =>
      core.putProperties(publisher.owner.platformId, { rowKey: keys[row], ...columns }),
  };
}

const call = (method: string, path: string, body?: object) => {
  return publisher.call(method, path, {
    hasLaterValues: true,
    ...(body === undefined ? {} : { body }),
  });
};
const listed = async () =>
  (await call("GET", "/v1/posts?limit=100")).body.data as { id: string; status: string }[];
const rowsOf = (id: string) =>
  JSON.stringify(
    [...(relay.storage?.rows(["core"]) ?? [])].filter(({ rowKey }) => rowKey.includes(id)),
  );

/** Lets everything run that could touch the post: messages, a sweep an hour later, and the timers. */
async function runAll(): Promise<void> {
  await relay.drain();
  relay.advance(3_600_000);
  await relay.runTimer("fire-due-posts");
  await sweepStalledLegs(relay.services);
  await relay.drain();
}

test("every row has the number of its form", async () => {
  await submitted();
  await relay.drain();
  const rows = [...(relay.storage?.rows(["core"]) ?? [])].map(({ properties }) => properties);
  // A row of a list of names has nothing but its key.
  const forms = rows.filter((row) => Object.keys(row).length > 0).map((row) => row["v"]);
  expect(forms.length).toBeGreaterThan(3);
  expect(new Set(forms)).toEqual(new Set([1]));
});

describe.each(["post", "leg"] as const)("a %s that needs a feature of a later build", (row) => {
  test("a row that needs a feature of a later build is left alone by workers, timers and the sweep, and published once the feature is there", async () => {
    const post = await submitted();
    await post.rewrite(row, { needs: "threads" });
    const before = rowsOf(post.id);
    await runAll();
    expect(rowsOf(post.id)).toBe(before);
    await post.rewrite(row, { needs: "" });
    await runAll();
    expect(await publisher.read(post.id)).toMatchObject({ status: "succeeded" });
  });

  test("a row that needs a feature of a later build is not started when it is due", async () => {
    const scheduleAt = new Date(relay.clock.now().getTime() + 120_000).toISOString();
    const post = await submitted({ scheduleAt });
    await post.rewrite(row, { needs: "threads" });
    const before = rowsOf(post.id);
    await runAll();
    expect(rowsOf(post.id)).toBe(before);
    await post.rewrite(row, { needs: "" });
    await runAll();
    await runAll();
    expect(await publisher.read(post.id)).toMatchObject({ status: "succeeded" });
  });

  test("answers 503 with the time to try again, changes nothing, and keeps no list from answering", async () => {
    const scheduleAt = new Date(relay.clock.now().getTime() + 7_200_000).toISOString();
    const post = await submitted({ scheduleAt });
    const other = await submitted();
    await post.rewrite(row, { needs: "threads" });
    const before = rowsOf(post.id);
    const answers = [
      await call("GET", `/v1/posts/${post.id}`),
      await call("PATCH", `/v1/posts/${post.id}`, { text: "Other" }),
      await call("DELETE", `/v1/posts/${post.id}`),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body.error.code]).toEqual([503, "service_unavailable"]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(rowsOf(post.id)).toBe(before);
    const ids = (await listed()).map(({ id }) => id);
    expect(ids).toContain(other.id);
    expect(ids).not.toContain(post.id);
  });
});

test("a state that only a later build knows is shown as it is, and nothing goes by it", async () => {
  const post = await submitted();
  const held = { kind: "publish", key: "k", attempts: 0, retries: 0, crashes: 0 };
  const requestedAt = relay.clock.now().toISOString();
  await post.rewrite("leg", { calls0: JSON.stringify([{ ...held, state: "held", requestedAt }]) });
  await post.rewrite("post", { status: "held" });
  const before = rowsOf(post.id);
  const read = await call("GET", `/v1/posts/${post.id}`);
  expect(read.status).toBe(200);
  expect(read.body.data).toMatchObject({ status: "held", legs: [{ status: "held" }] });
  expect(await listed()).toContainEqual(expect.objectContaining({ id: post.id, status: "held" }));
  expect((await call("DELETE", `/v1/posts/${post.id}`)).status).toBe(503);
  await runAll();
  expect(rowsOf(post.id)).toBe(before);
});

test("a call with a kind of refusal that only a later build knows is shown as it is, and nothing goes by it", async () => {
  const post = await submitted();
  const requestedAt = relay.clock.now().toISOString();
  const failure = { code: "held_for_review", networkCode: null };
  const refusal = { kind: "held", failure, at: requestedAt, isRepeat: false, remote: null };
  const sent = { kind: "publish", key: "k", state: "sent", attempts: 1, retries: 0, crashes: 0 };
  await post.rewrite("leg", {
    calls0: JSON.stringify([{ ...sent, sentAt: requestedAt, requestedAt, refusal }]),
  });
  const before = rowsOf(post.id);
  const read = await call("GET", `/v1/posts/${post.id}`);
  expect(read.status).toBe(200);
  expect(read.body.data).toMatchObject({ legs: [{ status: "publishing" }] });
  expect((await listed()).map(({ id }) => id)).toContain(post.id);
  await runAll();
  expect(rowsOf(post.id)).toBe(before);
});

test("an account's state of a later build is shown, and no post is taken or published by it", async () => {
  const own = await aPublisher(relay, ["mastodon"]);
  const { key, headers, profileId, owner } = own;
  const rowKey = `C|${profileId}|mastodon`;
  expect(await relay.tables.core.find(owner.platformId, rowKey)).toBeDefined();
  const become = (status: string) =>
    relay.tables.core.putProperties(owner.platformId, { rowKey, status });
  const submit = () => own.submit({ text: unique("Held"), platforms: ["mastodon"] });

  await become("held");
  const path = `/v1/profiles/${profileId}/connections`;
  const shown = await relay.call("GET", path, { key, headers, hasLaterValues: true });
  expect(JSON.stringify(shown.body)).toContain('"status":"held"');
  expect((await submit()).status).toBe(503);

  await become("active");
  const { id } = dataOf(await submit());
  await become("held");
  await runAll();
  expect(await own.read(id)).toMatchObject({ status: "processing" });
  await become("active");
  await runAll();
  expect(await own.read(id)).toMatchObject({ status: "succeeded" });
});
