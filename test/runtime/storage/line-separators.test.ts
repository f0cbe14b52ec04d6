import { expect, test } from "vitest";
import { openWorld, OWN_INSTANCES } from "../../connections/world.ts";
import { answer } from "../../networks/scripted-tools.ts";
import { dataOf, outcomeOf } from "../../setup/factories.ts";
import { aPublisher, unique } from "../../setup/publisher.ts";
import type { CallOptions } from "../../setup/relay.ts";
import { linkSandboxAccount } from "../../setup/sandbox-accounts.ts";
import { forFile } from "../../setup/for-file.ts";

// Text that is copied from notes has these two characters for line ends. The storage emulator refuses all transactions
// after one that has them in a row as they are, so this runs on the emulator.

const world = forFile(() => openWorld({}, {}, { emulatedTables: true }));

/** Replaces what a network answers to calls of this path. */
function answering(path: string, change: (sent: object) => ReturnType<typeof answer>): void {
  world.intercept(async (request, send) => {
    const sent = await send(request);
    return request.url.endsWith(path) ? change(sent.json() as object) : sent;
  });
}

test.each([
  ["U+2028", "\u2028", OWN_INSTANCES[0]],
  ["U+2029", "\u2029", OWN_INSTANCES[1]],
])("%s in any text stops no later write, and is published as it is", async (name, mark, host) => {
  const { relay, sandbox, services } = world;
  const said = (text: string) => `${text}${mark}and more`;
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { application, profileId, owner, key, headers } = publisher;
  const { session } = application.platform;
  const visible = (text: string) => sandbox.posts().filter((post) => post.text === text);
  const publish = async (draft: object) => {
    const accepted = await publisher.submit(draft);
    expect(outcomeOf(accepted)).toBe("202");
    return publisher.settle(dataOf(accepted).id);
  };

  // The account's name is the network's.
  answering("/verify_credentials", (sent) => answer(200, { ...sent, display_name: said("Ada") }));
  await linkSandboxAccount(services, owner, "mastodon", { form: { instance: host } });
  const connections = `/v1/profiles/${profileId}/connections`;
  const linked = dataOf(await relay.call("GET", connections, { key }));
  expect(JSON.stringify(linked)).toContain(JSON.stringify(said("Ada")).slice(1, -1));

  const own = { metadata: { [said("k")]: said("v") }, externalId: said("ours") };
  const branding = { name: said("Shop"), backLabel: said("Back") };
  const { platformId } = owner;
  const credit = { platformId, tokens: 50, note: said("n"), reference: said("r") };
  const named = { name: said("app"), defaultKeyName: said("key") };
  const email = `${name.slice(2)}@example.com`;
  const signUp = { email, password: said("pass word"), platformName: said("p") };
  const endpoint = { url: "https://hooks.example.com/", description: said("d") };
  const writes: readonly (readonly [string, string, CallOptions])[] = [
    ["POST", "/v1/auth/signup", { body: signUp }],
    ["POST", "/v1/applications", { session, body: named }],
    ["POST", "/v1/keys", { key, body: { name: said("key") } }],
    ["PATCH", `/v1/profiles/${profileId}`, { key, body: { title: said("Bakery"), ...own } }],
    [
      "POST",
      `/v1/profiles/${profileId}/connect/sessions`,
      { key, body: { state: said("s"), branding } },
    ],
    ["POST", "/v1/webhooks", { key, body: endpoint }],
    ["POST", "/v1/billing/admin/credit", { operator: ["Admin"], body: credit }],
    [
      "POST",
      "/v1/posts/validate",
      { key, headers, body: { text: said("t"), platforms: ["bluesky"] } },
    ],
  ];
  for (const [method, path, options] of writes) {
    const written = outcomeOf(await relay.call(method, path, options));
    expect(`${path}: ${written}`).toMatch(/: 20[01]$/);
  }

  // The words with which a post is refused are the network's.
  const refusal = answer(422, { error: said("Text was refused") });
  world.intercept(async (request, send) =>
    request.url.endsWith("/api/v1/statuses") ? refusal : send(request),
  );
  const text = said(unique("Hello"));
  const options = {
    bluesky: { text: `${said("Blue")} ${text}` },
    mastodon: { spoilerText: said("w") },
  };
  const post = await publish({
    text,
    platforms: ["bluesky", "mastodon"],
    platformOptions: options,
    ...own,
  });
  expect(post).toMatchObject({ status: "partial", text, platformOptions: options, ...own });
  expect(visible(options.bluesky.text)).toHaveLength(1);

  world.intercept(undefined);
  const altTexts = [said("A cat")];
  const mediaUrls = ["https://media.sandbox.test/photo.jpg"];
  await publish({ text: `${text} 2`, mediaUrls, altTexts, platforms: ["bluesky", "mastodon"] });
  const shown = visible(`${text} 2`);
  expect(shown.map(({ media }) => media.map(({ alt }) => alt))).toEqual([altTexts, altTexts]);

  const plain = unique("Plain");
  expect(await publish({ text: plain, platforms: ["bluesky"] })).toMatchObject({
    status: "succeeded",
  });
  expect(visible(plain)).toHaveLength(1);
});
