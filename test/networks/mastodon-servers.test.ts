import { describe, expect, test } from "vitest";
import { AKKOMA_HOST, FIREFISH_HOST, FRIENDICA_HOST } from "../../sandbox/mastodon/state.ts";
import { ICESHRIMP_HOST, LENIENT_HOST, PIXELFED_HOST } from "../../sandbox/mastodon/state.ts";
import {
  PLEROMA_HOST,
  SHARKEY_HOST,
  SMALL_HOST,
  STRICT_HOST,
} from "../../sandbox/mastodon/state.ts";
import { createNetworkTools } from "../../src/shared/connections/network-tools.ts";
import { mastodonAccountCheck } from "../../src/shared/networks/mastodon/instance.ts";
import { classify } from "../../src/shared/networks/mastodon/errors.ts";
import { traitsOf } from "../../src/shared/networks/mastodon/servers.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { NOW, answer } from "./scripted-tools.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { sandbox, relay, visible } = useSandboxedRelay();

const at = (name: string) => `https://media.sandbox.test/${name}`;
const ALBUM = [at("photo.jpg"), at("clip.mp4")];

async function publisherAt(instance: string) {
  const publisher = await aPublisher(relay, []);
  await linkSandboxAccount(relay.services, publisher.owner, "mastodon", { form: { instance } });
  return publisher;
}

async function publish(
  instance: string,
  text: string,
  mediaUrls: readonly string[] = ALBUM,
  more: object = {},
) {
  const publisher = await publisherAt(instance);
  const body = { text, mediaUrls, platforms: ["mastodon"], ...more };
  const accepted = await publisher.submit(body);
  return accepted.status === 202 ? (await publisher.settle(dataOf(accepted).id)).legs[0] : accepted;
}

const MISSKEYS = [SHARKEY_HOST, ICESHRIMP_HOST, FIREFISH_HOST];
const MIXING = [
  ...MISSKEYS,
  AKKOMA_HOST,
  PLEROMA_HOST,
  PIXELFED_HOST,
  LENIENT_HOST,
  FRIENDICA_HOST,
];

describe.each(MIXING)("an image and a video in one post at %s", (host) => {
  test("an image and a video in one post are published together", async () => {
    const text = unique("Album");
    expect(await publish(host, text)).toMatchObject({ status: "succeeded", error: null });
    expect(visible(text).map(({ media }) => media.map(({ mimeType }) => mimeType))).toEqual([
      ["image/jpeg", "video/mp4"],
    ]);
  });

  test("an image and a video in one post are one post at the most when the answer is lost", async () => {
    const text = unique("Album [drop-answer]");
    await publish(host, unique("First"));
    expect(await publish(host, text)).toMatchObject({ status: "succeeded" });
    expect(visible(text)).toHaveLength(1);
  });
});

describe("an image and a video in one post at Mastodon", () => {
  test("an image and a video in one post at Mastodon are refused by their names before anything is sent", async () => {
    const answer = await publish(STRICT_HOST, unique("Album"));
    expect(answer).toMatchObject({ status: 422 });
    expect(JSON.stringify(answer)).toContain("mastodon.media.mixed");
  });
});

describe("an account at a Pixelfed server", () => {
  test("an account at a Pixelfed server is told beforehand that a post needs a file", async () => {
    const answer = await publish(PIXELFED_HOST, unique("Words alone"), []);
    expect(answer).toMatchObject({ status: 422 });
    expect(JSON.stringify(answer)).toContain("mastodon.media.required");
  });

  test("an account at a Pixelfed server is told beforehand that the server has no direct posts", async () => {
    const platformOptions = { mastodon: { visibility: "direct" } };
    const answer = await publish(PIXELFED_HOST, unique("For you"), ALBUM, { platformOptions });
    expect(answer).toMatchObject({ status: 422 });
    expect(JSON.stringify(answer)).toContain("mastodon.visibility.direct");
  });

  test("an account at a Pixelfed server is renewed for as long as it is used", async () => {
    const publisher = await publisherAt(PIXELFED_HOST);
    for (let month = 0; month < 3; month += 1) {
      relay.advance(14 * 24 * 3_600_000);
      const body = { text: unique("Still here"), mediaUrls: ALBUM, platforms: ["mastodon"] };
      const { id } = await publisher.accept(body);
      const [leg] = (await publisher.settle(id)).legs;
      expect(leg).toMatchObject({ status: "succeeded" });
    }
  });
});

describe("a server of Misskey's, which answers 401 to whatever it refuses", () => {
  test.each([
    ["permission_missing", "permission_missing"],
    ["text_invalid", "invalid_request"],
    ["connection_needs_reauth", "connection_needs_reauth"],
  ])("an answer of Misskey's is understood: %s is %s", async (words, code) => {
    const publisher = await publisherAt(SHARKEY_HOST);
    const body = { text: unique(`Refused [fail:${words}]`), platforms: ["mastodon"] };
    const { id } = await publisher.accept(body);
    const [leg] = (await publisher.settle(id)).legs;
    expect(leg).toMatchObject({ status: "failed", error: { code } });
  });
});

test.each([
  [403, { error: "Empty statuses are not allowed" }],
  [422, { message: "The media ids field is required when status is not present." }],
])("the words of Pixelfed for a text alone (%i) are understood", (status, body) => {
  expect(classify(answer(status, body), NOW)).toMatchObject({
    code: "media_rejected",
    rule: "mastodon.media.required",
  });
});

test("an account that was linked before can mix files after its next check", async () => {
  const { owner } = await publisherAt(PIXELFED_HOST);
  const opened = await relay.services.connections.stores.connections.open({
    ...owner,
    network: "mastodon",
  });
  if (opened === undefined) throw new Error("nothing is linked");
  const { account, instanceUrl } = opened.connection;
  const credentials = { ...opened.credentials, software: undefined };
  const tools = createNetworkTools(relay.services.connections, "mastodon");
  const checked = { account, instanceUrl, credentials };
  expect(await mastodonAccountCheck.readLimits?.(checked, tools)).toMatchObject({
    kind: "read",
    limits: { mixesFiles: true, altTextMax: 1_000 },
  });
});

test.each([PLEROMA_HOST, AKKOMA_HOST])(
  "a link counts as it is written at %s, and letters as people see them",
  async (instance) => {
    const publisher = await publisherAt(instance);
    const link = `https://pages.sandbox.test/${"a".repeat(60)}`;
    const family = "👨\u200d👩\u200d👧";
    const of = async (text: string) => {
      const body = { text, platforms: ["mastodon"] };
      const answer = await publisher.call("POST", "/v1/posts/validate", { body });
      return dataOf(answer).platforms.mastodon;
    };
    expect(await of(`${link} ${family}`)).toMatchObject({ usedCharacters: link.length + 2 });
    expect(await of("a".repeat(5_001 - link.length) + link)).toMatchObject({
      maxCharacters: 5_000,
    });
  },
);

test.each([PLEROMA_HOST, AKKOMA_HOST])(
  "the sizes that %s states outside of a configuration are read",
  async (instance) => {
    const publisher = await publisherAt(instance);
    const opened = await relay.services.connections.stores.connections.open({
      ...publisher.owner,
      network: "mastodon",
    });
    expect(opened?.connection.limits).toMatchObject({
      imageBytesMax: 16_000_000,
      videoBytesMax: 16_000_000,
      altTextMax: 5_000,
    });
  },
);

test.each([PLEROMA_HOST, LENIENT_HOST, FRIENDICA_HOST, SMALL_HOST, STRICT_HOST])(
  "the app is registered again at %s after it was deleted there, and only then",
  async (instance) => {
    const { hosts } = createNetworkTools(relay.services.connections, "mastodon");
    const linked = async () => {
      await publisherAt(instance);
      return (await hosts.find(instance))?.["clientId"];
    };
    const first = await linked();
    expect(await linked()).toBe(first);
    sandbox.networks.mastodon.forgetApps(instance);
    expect(await linked()).not.toBe(first);
  },
);

test.each([
  ["mastodon", false],
  ["pleroma", true],
  ["gotosocial", true],
  [null, false],
])("software that calls itself %s: %s", (software, expected) => {
  expect(traitsOf(software).mixesFiles).toBe(expected);
});
