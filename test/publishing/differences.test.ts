import { expect, test } from "vitest";
import { publisherOf, unique } from "../setup/publisher.ts";
import { forFile } from "../setup/for-file.ts";
import { aLinkedOwner, openWholeWorld } from "../background/accounts.ts";
import { answer } from "../networks/scripted-tools.ts";

const world = forFile(() => openWholeWorld());

test("a leg warns of a post that the server published without its files", async () => {
  const { owner } = await aLinkedOwner(world, "mastodon");
  world.intercept(async (request, send) => {
    const made = await send(request);
    if (request.method !== "POST" || !request.url.endsWith("/api/v1/statuses")) return made;
    return answer(made.status, { ...(made.json() as object), media_attachments: [] });
  });
  const publisher = publisherOf(world.relay, owner.application, owner.profileId);
  const { id } = await publisher.accept({
    text: unique("Without its picture"),
    platforms: ["mastodon"],
    mediaUrls: ["https://media.sandbox.test/photo.jpg"],
  });
  await world.relay.drain();
  const [leg] = (await publisher.read(id)).legs;
  expect(leg.status).toBe("succeeded");
  expect(leg.warnings).toContainEqual({
    code: "kind_changed",
    rule: "mastodon.media.missing",
    message: "The server published the post without some of its files.",
    remediation: "Check the post. If the files matter, remove it and publish it again.",
    developerHint: null,
    field: "mediaUrls",
    mediaIndex: null,
    docUrl: expect.stringContaining("kind_changed"),
  });
});
