import { describe, expect, test } from "vitest";
import { LENIENT_HOST, STRICT_HOST } from "../../sandbox/mastodon/state.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import type { Publisher } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { connectionsOf } from "../setup/stored.ts";

const { relay, visible } = useSandboxedRelay();

/** The profile's Mastodon account is another one from now on. */
const linkAnother = ({ owner }: Publisher) =>
  linkSandboxAccount(relay.services, owner, "mastodon", { form: { instance: LENIENT_HOST } });

async function submitted(publisher: Publisher, text: string): Promise<string> {
  const body = { text, platforms: ["mastodon"] };
  return (await publisher.accept(body)).id as string;
}

describe("an account that is replaced by another one after a post was accepted", () => {
  test("a post is published on the account that is linked when it is sent, and says so", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const text = unique("Moved house");
    const id = await submitted(publisher, text);
    await linkAnother(publisher);
    const [linked] = await connectionsOf(relay.services, publisher.owner);
    const post = await publisher.settle(id);
    expect(visible(text).map(({ host }) => host)).toEqual([LENIENT_HOST]);
    expect(post).toMatchObject({
      status: "succeeded",
      legs: [{ attempts: 1, connectionId: linked?.id, account: { id: linked?.account.id } }],
    });
    expect(post.legs[0].url).toContain(LENIENT_HOST);
  });

  test("all accepted posts of a replaced account are published on its successor, each once", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const word = unique("House full");
    const posts: string[] = [];
    for (let index = 0; index < 5; index += 1)
      posts.push(await submitted(publisher, `${word} no. ${index}`));
    await linkAnother(publisher);
    for (const id of posts)
      expect(await publisher.settle(id)).toMatchObject({ status: "succeeded" });
    expect(visible(word)).toHaveLength(5);
    expect(new Set(visible(word).map(({ host }) => host))).toEqual(new Set([LENIENT_HOST]));
  });

  test("a post that the replaced account may have is not sent again: its outcome stays unknown, uncharged", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const before = await publisher.balance();
    const text = unique("Maybe there [drop-answer]");
    const { outbound } = relay.services.connections;
    const request = outbound.request.bind(outbound);
    outbound.request = async (asked) => {
      try {
        return await request(asked);
      } finally {
        if (typeof asked.body === "string" && asked.body.includes(text))
          await linkAnother(publisher);
      }
    };
    const id = await submitted(publisher, text);
    await relay.drain();
    outbound.request = request;
    const post = await publisher.settle(id);
    expect(visible(text).map(({ host }) => host)).toEqual([STRICT_HOST]);
    expect(post).toMatchObject({
      status: "failed",
      legs: [{ error: { code: "outcome_unknown" }, retryAvailable: true, tokensCharged: 0 }],
    });
    expect(await publisher.balance()).toMatchObject({ available: before.available });
  });
});
