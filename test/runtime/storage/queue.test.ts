import { randomBytes } from "node:crypto";
import { QueueClient } from "@azure/storage-queue";
import { expect, inject, test } from "vitest";
import { openQueue } from "../../../src/shared/runtime/storage/tables.ts";

const WEEK_MS = 7 * 24 * 3600 * 1000;

function aQueue() {
  const name = `contract-${randomBytes(5).toString("hex")}`;
  const connectionString = inject("azurite");
  const queue = openQueue({ kind: "connection_string", connectionString }, name);
  return { queue, client: new QueueClient(connectionString, name) };
}

test("a message is base64 JSON, as the trigger reads it, and never expires", async () => {
  const { queue, client } = aQueue();
  await queue.send({ v: 1, text: "é" });
  const { receivedMessageItems } = await client.receiveMessages();
  const [message] = receivedMessageItems;
  expect(JSON.parse(Buffer.from(message?.messageText ?? "", "base64").toString())).toEqual({
    v: 1,
    text: "é",
  });
  expect(message?.expiresOn.getTime()).toBeGreaterThan(Date.now() + 52 * WEEK_MS);
});

test("a delayed message is not seen before its time; a delay beyond the service's is cut", async () => {
  const { queue, client } = aQueue();
  await queue.send({ v: 1 }, 3_600);
  await queue.send({ v: 2 }, 400 * 24 * 3_600);
  await queue.send({ v: 3 }, -5);
  const { receivedMessageItems } = await client.receiveMessages({ numberOfMessages: 10 });
  const seen = receivedMessageItems.map(({ messageText }) => {
    return (JSON.parse(Buffer.from(messageText, "base64").toString()) as { v: number }).v;
  });
  expect(seen).toEqual([3]);
});

test("a queue that can't be reached fails its ping", async () => {
  const connectionString = inject("azurite").replace(/QueueEndpoint=[^;]+/, (endpoint) =>
    endpoint.replace(/:\d+/, ":9"),
  );
  const queue = openQueue({ kind: "connection_string", connectionString }, "any");
  await expect(queue.ping()).rejects.toThrow();
});

test("messages are received as they were sent until they are removed; a queue that isn't there has none", async () => {
  const { queue, client } = aQueue();
  expect(await queue.receive()).toEqual([]);
  await queue.send({ v: 1, text: "é" });
  await client.sendMessage("no base64!");
  const received = await queue.receive();
  expect(received.map(({ text }) => text)).toEqual(['{"v":1,"text":"é"}', "no base64!"]);
  await Promise.all(received.map(({ remove }) => remove()));
  expect((await client.getProperties()).approximateMessagesCount).toBe(0);
});
