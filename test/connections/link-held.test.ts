import { beforeEach, expect, test } from "vitest";
import { FRIEND_APP_PASSWORD, FRIEND_HANDLE } from "../../sandbox/bluesky/state.ts";
import { HeldWrites } from "../http/access/held-writes.ts";
import { BLUESKY } from "../http/connect-calls.ts";
import { aKey, dataOf, type TestKey } from "../setup/factories.ts";
import { startRelay } from "../setup/relay.ts";
import { Browser, readable } from "./browser.ts";
import { anOwner, openWorld, type Owner } from "./world.ts";
import { forFile } from "../setup/for-file.ts";

const THIEF = { identifier: FRIEND_HANDLE, appPassword: FRIEND_APP_PASSWORD };
/** More than linking one account writes. */
const WRITES_MAX = 20;

/** Accounts are linked on the one, while access is taken away on the other. */
let owner: Owner;
const held = new HeldWrites();

const world = forFile(() => openWorld({}, {}, { holdWrite: held.of }));
const office = forFile(() => startRelay({ sameDeploymentAs: world.relay }));
beforeEach(async () => {
  world.sandbox.reset();
  owner = await anOwner(world);
});

const asOwner = () => ({ key: owner.key, headers: { "x-profile-id": owner.profileId } });

async function aLink(key: string): Promise<string> {
  const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const body = { platforms: ["bluesky", "mastodon"] };
  return dataOf(await office.call("POST", path, { key, body })).connectUrl;
}

/** The linked accounts, as the other instance sees them. */
async function linked(): Promise<readonly string[]> {
  const path = `/v1/profiles/${owner.profileId}/connections`;
  const found = dataOf(await office.call("GET", path, asOwner()));
  return found.map(
    ({ account, status, id }: { account: { username: string }; status: string; id: string }) =>
      `${id} ${account.username} ${status}`,
  );
}

const spent = async () =>
  100 - dataOf(await office.call("GET", "/v1/billing/balance", asOwner())).tokenBalance;

const countedAccounts = async () =>
  dataOf(await office.call("GET", "/v1/me", asOwner())).counts.connections;

async function link(url: string, form: Readonly<Record<string, string>>) {
  const browser = new Browser(world);
  return await browser.submit(await browser.get(url), "bluesky", form);
}

interface Outcome {
  readonly wasHeld: boolean;
  /** Whether the link was there already when the key was revoked. */
  readonly cameFirst: boolean;
  readonly isLinked: boolean;
}

/** Links an account with the write of this number held back, until the key of the session is revoked. */
async function revokeAt(number: number, thief: TestKey): Promise<Outcome> {
  const url = await aLink(thief.secret);
  const before = { linked: await linked(), spent: await spent(), counted: await countedAccounts() };
  const reached = held.hold(number);
  const answering = link(url, THIEF);
  const wasHeld = await Promise.race([reached.then(() => true), answering.then(() => false)]);
  const cameFirst = (await linked()).join() !== before.linked.join();
  if (wasHeld)
    expect((await office.call("POST", `/v1/keys/${thief.id}/revoke`, asOwner())).status).toBe(204);
  held.letGo();
  const answer = await answering;
  const isLinked = answer.status === 303;
  if (!isLinked) {
    expect([answer.status, readable(answer.body)]).toEqual([
      410,
      expect.stringContaining("This link has ended"),
    ]);
    const after = {
      linked: await linked(),
      spent: await spent(),
      counted: await countedAccounts(),
    };
    expect(after).toEqual(before);
  }
  return { wasHeld, cameFirst, isLinked };
}

test.each([
  ["to a profile without one", false],
  ["instead of the owner's", true],
])(
  "no account is linked %s after the key was revoked, wherever the link was",
  async (_what, isTaken) => {
    const outcomes: Outcome[] = [];
    for (let number = 1; number <= WRITES_MAX; number += 1) {
      owner = await anOwner(world);
      if (isTaken) await link(await aLink(owner.key), BLUESKY);
      outcomes.push(await revokeAt(number, await aKey(office, owner.application)));
      if (outcomes.at(-1)?.wasHeld === false) break;
    }
    expect(outcomes.at(-1)?.wasHeld).toBe(false);
    expect(outcomes.filter(({ wasHeld }) => wasHeld).length).toBeGreaterThan(2);
    const late = outcomes.filter(({ wasHeld, cameFirst }) => wasHeld && !cameFirst);
    expect(late.filter(({ isLinked }) => isLinked)).toEqual([]);
  },
);
