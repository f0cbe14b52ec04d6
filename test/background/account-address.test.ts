import { afterAll, beforeAll, expect, test } from "vitest";
import { anOwner, type Owner, type World } from "../connections/world.ts";
import { dataOf } from "../setup/factories.ts";
import { unique, uniqueKey } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { openWholeWorld } from "./accounts.ts";

let world: World;
let owner: Owner;
beforeAll(async () => {
  world = await openWholeWorld();
  owner = await anOwner(world, 1_000);
  for (const network of ["mastodon", "linkedin"] as const)
    await linkSandboxAccount(world.services, owner, network);
});
afterAll(() => world.close());

interface OfAccount {
  readonly platform: string;
  readonly account: { readonly url: string | null };
}

const call = async (method: string, path: string, body?: object) =>
  dataOf(
    await world.relay.call(method, path, {
      key: owner.key,
      headers: { "x-profile-id": owner.profileId, "idempotency-key": uniqueKey() },
      ...(body === undefined ? {} : { body }),
    }),
  );

test("the address of an account that its network doesn't tell is null, in a post and in a connection", async () => {
  const { legs } = await call("POST", "/v1/posts", {
    text: unique("Addresses"),
    platforms: ["linkedin", "mastodon"],
  });
  const items = await call("GET", `/v1/profiles/${owner.profileId}/connections`);
  for (const all of [legs, items] as readonly (readonly OfAccount[])[]) {
    const addressOn = (name: string) => all.find(({ platform }) => platform === name)?.account.url;
    expect(addressOn("linkedin")).toBeNull();
    expect(addressOn("mastodon")).toMatch(/^https?:/);
  }
});
