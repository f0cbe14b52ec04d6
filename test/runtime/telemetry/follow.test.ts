import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../../sandbox/server.ts";
import { linesAbout } from "../../../dev/what-happened.ts";
import { workers } from "../../../src/functions/workers.ts";
import { parseTraceParent } from "../../../src/shared/runtime/telemetry/work-context.ts";
import { dataOf } from "../../setup/factories.ts";
import { aPublisher, unique, uniqueKey, type Publisher } from "../../setup/publisher.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { sandboxSettings } from "../../setup/sandbox-accounts.ts";
import { startReceiver, type Receiver } from "../../webhooks/receiver.ts";
import { anEndpoint, type TestEndpoint } from "../../webhooks/subscriber.ts";
import { startRecorder, type Recorder } from "./recorder.ts";
import { enqueueDuePosts, sweepStalledLegs } from "../../setup/walks.ts";

const MINUTE = 60_000;
const NETWORKS = ["bluesky", "mastodon"];
type Line = Readonly<Record<string, unknown>>;

let sandbox: Sandbox;
let recorder: Recorder;
let receiver: Receiver;
let relay: Relay;
let publisher: Publisher;
let endpoint: TestEndpoint;
let traceId = "";
let parent = "";
let traces = 0;

beforeAll(async () => {
  sandbox = await startSandbox();
  recorder = await startRecorder(sandbox.url);
  receiver = await startReceiver();
  const settings = sandboxSettings(sandbox, recorder.url);
  const hosts = {
    ...(JSON.parse(settings.OUTBOUND_HOST_MAP) as object),
    ...(JSON.parse(receiver.settings["OUTBOUND_HOST_MAP"] ?? "{}") as object),
  };
  relay = await startRelay({
    settings: { ...settings, OUTBOUND_HOST_MAP: JSON.stringify(hosts) },
  });
  publisher = await aPublisher(relay);
  endpoint = await anEndpoint(relay, receiver, publisher.application);
});
afterAll(async () => {
  await relay.stop();
  await receiver.stop();
  await recorder.stop();
  await sandbox.stop();
});

beforeEach(() => {
  traces += 1;
  traceId = String(traces).padStart(32, "a");
  parent = `00-${traceId}-00f067aa0ba902b7-01`;
});

async function submit(body: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await relay.call("POST", "/v1/posts", {
    key: publisher.key,
    headers: {
      ...publisher.headers,
      "idempotency-key": uniqueKey(),
      traceparent: parent,
      ...headers,
    },
    body: { platforms: NETWORKS, ...body },
  });
  return {
    post: dataOf(answer),
    headers: answer.headers,
    requestId: answer.headers.get("x-request-id") ?? "",
  };
}

const allLines = (): Line[] => relay.logLines.map((line) => JSON.parse(line) as Line);
const messagesOf = (lines: readonly Line[]) => lines.map(({ message }) => message);

describe("a post, by its request id", () => {
  test("a request id finds a line for the request and for every step of the post's legs and deliveries", async () => {
    const { post, requestId } = await submit({ text: unique("Followed") });
    await publisher.settle(post.id);
    await relay.drain();
    const lines = allLines().filter((line) => line["requestId"] === requestId);
    const once = ["post accepted", "audit", "request"];
    const ofLegs = ["leg claimed", "leg prepared", "leg sent", "leg published"];
    for (const message of once) expect(messagesOf(lines)).toContain(message);
    for (const network of NETWORKS) {
      const steps = lines.filter((line) => line["network"] === network);
      expect(messagesOf(steps)).toEqual(ofLegs);
    }
    expect(messagesOf(lines)).toContain("webhook attempt");
    for (const line of lines)
      expect(line).toMatchObject({
        traceId,
        postId: post.id,
        platformId: publisher.owner.platformId,
      });
  });

  test("a request has a line that says what, how and who, and nothing of what was sent", async () => {
    const text = unique("Unsaid");
    const { post, requestId } = await submit({ text });
    const line = allLines().find(
      (one) => one["requestId"] === requestId && one["message"] === "request",
    );
    expect(line).toMatchObject({
      route: "POST v1/posts",
      status: 202,
      caller: "api_key",
      callerId: expect.stringMatching(/^key_/),
      platformId: publisher.owner.platformId,
      applicationId: publisher.owner.applicationId,
      profileId: publisher.profileId,
      postId: post.id,
      durationMs: expect.any(Number),
    });
    const all = relay.logLines.join("\n");
    for (const secret of [text, publisher.key, endpoint.secret]) expect(all).not.toContain(secret);
  });

  test("a post is found by its trace id and its post id as well, and nothing else with it", async () => {
    const { post, requestId } = await submit({ text: unique("Found") });
    await publisher.settle(post.id);
    await submit({ text: unique("Another") }, { traceparent: "" });
    const lines = allLines();
    const found = linesAbout(lines, requestId);
    expect(found.length).toBeGreaterThan(10);
    expect(linesAbout(lines, traceId)).toEqual(found);
    expect(linesAbout(lines, post.id)).toEqual(found);
    expect(new Set(found.map((line) => line["postId"]))).toEqual(new Set([post.id]));
    expect(linesAbout(lines, "req_of_nobody")).toEqual([]);
  });

  test("a post is found by the request that retried it", async () => {
    sandbox.fault("mastodon", "*", "fail:content_rejected", 50);
    const { post } = await submit({ text: unique("Retried"), platforms: ["mastodon"] });
    await publisher.settle(post.id);
    sandbox.clearFaults();
    const failed = allLines().find(
      (line) => line["postId"] === post.id && line["message"] === "leg failed",
    );
    expect(failed?.["reason"]).toEqual(expect.any(String));
    const answer = await publisher.call("POST", `/v1/posts/${post.id}/retry`);
    await publisher.settle(post.id);
    const about = linesAbout(allLines(), answer.headers.get("x-request-id") ?? "");
    expect(messagesOf(about)).toEqual(
      expect.arrayContaining(["post accepted", "leg failed", "legs retried", "leg published"]),
    );
  });

  test("a refused request has a line of its refusal, also when no route took it", async () => {
    const ids = ["refused-0001", "refused-0002", "refused-0003"];
    const [first = "", second = "", third = ""] = ids;
    await publisher.call("POST", "/v1/posts", { headers: { "x-request-id": first } });
    await relay.call("GET", "/v1/me", { key: "garbage", headers: { "x-request-id": second } });
    await relay.call("GET", "/v1/sk_live_in_the_path", { headers: { "x-request-id": third } });
    const lines = allLines().filter(
      (line) => line["message"] === "request" && ids.includes(String(line["requestId"])),
    );
    expect(lines).toMatchObject([
      { refusal: expect.any(String), status: 400, caller: "api_key" },
      { refusal: "invalid_credentials", status: 401 },
      { refusal: "not_found", status: 404, route: "GET (none)" },
    ]);
    expect(lines[1]).not.toHaveProperty("caller");
    expect(JSON.stringify(lines)).not.toContain("in_the_path");
  });
});

describe("the trace of a request", () => {
  test("reaches networks and receivers, in every call under another span, and nothing else does", async () => {
    await relay.drain();
    const before = recorder.seen.length;
    const { post, headers } = await submit(
      { text: unique("Traced") },
      { tracestate: "vendor=1", baggage: "user=1" },
    );
    await publisher.settle(post.id);
    await relay.drain();
    const told = receiver.received(endpoint.path).filter(({ body }) => body.includes(post.id));
    expect(told.length).toBeGreaterThan(2);
    const calls = [...recorder.seen.slice(before), ...told.map((one) => one.headers)];
    const parents = calls.map(({ traceparent }) => parseTraceParent(traceparent));
    expect(new Set(parents.map((one) => one?.traceId))).toEqual(new Set([traceId]));
    const spans = parents.map((one) => one?.spanId);
    expect(new Set([...spans, "00f067aa0ba902b7"]).size).toBe(calls.length + 1);
    for (const call of calls) {
      expect(call).not.toHaveProperty("tracestate");
      expect(call).not.toHaveProperty("baggage");
    }
    expect(told.map(({ body }) => body).join()).not.toContain(traceId);
    expect(headers.has("traceparent")).toBe(false);
  });

  test("begins again for a request without a valid one", async () => {
    const { requestId } = await submit({ text: unique("Fresh") }, { traceparent: "00-garbage" });
    const line = allLines().find((one) => one["requestId"] === requestId);
    expect(line?.["traceId"]).toMatch(/^[0-9a-f]{32}$/);
    expect(line?.["traceId"]).not.toBe(traceId);
  });

  test("the trace of a request is in the hints, and goes on from the rows where the sweeper has to send them again", async () => {
    const sent: object[] = [];
    relay.queues.onSend = (message) => {
      sent.push(message);
      return "lose";
    };
    const { post } = await submit({ text: unique("Swept") });
    relay.queues.onSend = () => "keep";
    expect(sent[0]).toMatchObject({ postId: post.id, trace: expect.stringContaining(traceId) });
    for (let minute = 0; minute < 3; minute += 1) {
      relay.advance(MINUTE);
      await sweepStalledLegs(relay.services);
      await relay.drain();
    }
    await publisher.settle(post.id);
    // Who looks at the post meanwhile has a trace of its own.
    const lines = allLines().filter(
      (line) => line["postId"] === post.id && line["route"] !== "GET v1/posts/{postId}",
    );
    expect(messagesOf(lines)).toEqual(
      expect.arrayContaining(["stalled legs hinted again", "leg published"]),
    );
    expect(new Set(lines.map((line) => line["traceId"]))).toEqual(new Set([traceId]));
  });

  test("goes on when a scheduled post fires, whose lateness is counted", async () => {
    const scheduleAt = new Date(relay.clock.now().getTime() + 10 * MINUTE).toISOString();
    const { post, requestId } = await submit({ text: unique("Later"), scheduleAt });
    relay.advance(10 * MINUTE + 3_000);
    await enqueueDuePosts(relay.services);
    await relay.drain();
    await publisher.settle(post.id);
    const lines = allLines().filter((line) => line["requestId"] === requestId);
    expect(messagesOf(lines)).toEqual(expect.arrayContaining(["post started", "leg published"]));
    expect(new Set(lines.map((line) => line["traceId"]))).toEqual(new Set([traceId]));
    relay.services.background.work.metrics.flush();
    const lateness = allLines().filter(({ metric }) => metric === "posts.lateness_s");
    expect(lateness).toMatchObject([{ count: 1, min: expect.any(Number) }]);
    expect(Number(lateness[0]?.["max"])).toBeGreaterThanOrEqual(3);
  });

  test.each([
    ["none, as before traces were kept", {}],
    ["nonsense", { trace: "nonsense" }],
    ["something else than text", { trace: { deep: [1] } }],
  ])("a trace in a hint may be %s", async (_name, fields) => {
    const sent: object[] = [];
    relay.queues.onSend = (message) => {
      sent.push(message);
      return "lose";
    };
    const text = unique("Old hint");
    const { post } = await submit({ text });
    relay.queues.onSend = () => "keep";
    const { trace: _, ...hint } = sent[0] as { trace: string };
    const worker = workers.find(({ queue }) => queue === "publishing");
    await worker?.handle(relay.services, { ...hint, ...fields });
    expect(await publisher.settle(post.id)).toMatchObject({ status: "succeeded" });
    expect(sandbox.posts().filter((shown) => shown.text.includes(text))).toHaveLength(2);
  });
});

describe("what is counted", () => {
  test("adds up with what happened", async () => {
    relay.services.background.work.metrics.flush();
    const from = relay.logLines.length;
    const idempotency = { "idempotency-key": uniqueKey() };
    const text = unique("Counted");
    const { post } = await submit({ text }, idempotency);
    await submit({ text }, idempotency);
    await publisher.settle(post.id);
    await relay.drain();
    relay.services.background.work.metrics.flush();
    const metrics = allLines()
      .slice(from)
      .filter(({ message }) => message === "metric");
    const countOf = (name: string, labels: object) =>
      metrics.find(
        (line) =>
          line["metric"] === name &&
          Object.entries(labels).every(([label, value]) => line[label] === value),
      )?.["count"];
    expect(countOf("posts.accepted", { outcome: "accepted" })).toBe(1);
    expect(countOf("posts.accepted", { outcome: "replayed" })).toBe(1);
    expect(countOf("posts.accept_ms", { outcome: "accepted" })).toBe(1);
    for (const network of NETWORKS) {
      expect(countOf("legs.ended", { network, outcome: "published" })).toBe(1);
      expect(countOf("legs.publish_s", { network })).toBe(1);
    }
    const told = receiver.received(endpoint.path).filter(({ body }) => body.includes(post.id));
    expect(countOf("webhooks.attempted", { outcome: "ok" })).toBe(told.length);
    expect(countOf("webhooks.attempt_ms", {})).toBe(told.length);
    expect(countOf("wallet.batch_operations", { outcome: "applied" })).toBeGreaterThanOrEqual(2);
  });

  test("the messages that were given up are counted, and their line keeps its own name", async () => {
    const worker = workers.find(({ queue }) => queue === "publishing");
    const host = { dequeueCount: 5, write: () => undefined };
    await worker?.handle(relay.services, { v: 1, postId: "pst_x", trace: parent }, host);
    relay.services.background.work.metrics.flush();
    const lines = allLines();
    expect(lines.find(({ event }) => event === "poison_message")).toMatchObject({
      message: "poison message",
      level: "error",
      postId: "pst_x",
      traceId,
    });
    expect(lines.find(({ metric }) => metric === "queues.poisoned")).toMatchObject({
      queue: "publishing",
      count: 1,
    });
  });
});
