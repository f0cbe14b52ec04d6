import { expect, test } from "vitest";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay, visible } = useSandboxedRelay();

test("a retry after a removal publishes once, though the server remembers the key of the post that is gone", async () => {
  const publisher = await aPublisher(relay, ["mastodon"]);
  const text = unique("Again");
  const { outbound } = relay.services.connections;
  const request = outbound.request.bind(outbound);
  outbound.request = async (asked) => {
    if (asked.method === "POST") await request(asked);
    throw new HttpFailure("in_doubt", "timeout");
  };
  const { id } = await publisher.accept({ text, platforms: ["mastodon"] });
  const lost = await publisher.settle(id);
  outbound.request = request;
  expect(lost.legs[0].error.code).toBe("outcome_unknown");
  expect(visible(text)).toHaveLength(1);

  await publisher.remove(id);
  for (let round = 0; visible(text).length > 0 && round < 20; round += 1) {
    await relay.drain();
    relay.advance(10_000);
  }
  await relay.drain();
  expect((await publisher.read(id)).legs[0].removal.status).toBe("removed");

  await publisher.call("POST", `/v1/posts/${id}/retry`, { body: {} });
  const { legs, tokens } = await publisher.settle(id);
  expect(legs[0]).toMatchObject({ status: "succeeded", error: null });
  expect(visible(text)).toHaveLength(1);
  expect(tokens).toEqual({ charged: 10, reserved: 0, released: 10 });
});
