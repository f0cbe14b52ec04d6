import { afterAll, beforeAll, expect, test } from "vitest";
import { HeldWrites } from "../../http/access/held-writes.ts";
import { aPlatform, dataOf, outcomeOf, PASSWORD } from "../../setup/factories.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { storedRows } from "../../setup/stored-rows.ts";
import { close, DAY, setStatus, untilErased } from "./world.ts";

/*
 * What operators and sign-ups add to a wallet while its platform is closed. What customers ask for meanwhile is in
 * `test/http/access/under-way.test.ts`, for every route that writes, and in the simulation (`fence.ts`).
 */

const held = new HeldWrites();
const CREDIT = 500;
let office: Relay;
let branch: Relay;

beforeAll(async () => {
  const settings = { SIGNUP_CREDIT_TOKENS: String(CREDIT) };
  office = await startRelay({ settings });
  branch = await startRelay({ sameDeploymentAs: office, holdWrite: held.of });
});
afterAll(async () => {
  await branch.stop();
  await office.stop();
});

const balanceOf = async ({ services }: Relay, platformId: string) =>
  (await services.ledger.stores.ledger.readWallet(platformId)).balance;

test("a credit that was under way is made once, and is there when the platform is opened again", async () => {
  const { id: platformId, email } = await aPlatform(office, { tokens: 0 });
  const body = { platformId, tokens: 70, reference: "invoice-1" };
  const credit = (on: Relay) =>
    on.call("POST", "/v1/billing/admin/credit", { operator: ["Admin"], body });
  const reached = held.hold(1);
  const answer = credit(branch);
  await reached;
  await close(office, { email });
  held.letGo();
  expect(outcomeOf(await answer)).toBe("201");
  expect(outcomeOf(await credit(office))).toBe("409 invalid_state");
  dataOf(await setStatus(office, { platformId }, "active"));
  expect(outcomeOf(await credit(office))).toBe("201");
  expect(await balanceOf(office, platformId)).toBe(CREDIT + 70);
});

const signUp = (on: Relay, email: string) =>
  on.call("POST", "/v1/auth/signup", {
    body: { email, password: PASSWORD, platformName: "Example Media" },
  });

/** The writes of a sign-up up to its credit: the email, the list of platforms, the name, the platform, the mailbox, the wallet. */
const WRITES_OF_SIGN_UP = [5, 6] as const;

test.each(WRITES_OF_SIGN_UP)(
  "a starting credit that was under way at write %i is made once, and not again after the end",
  async (write) => {
    const email = `starts-${write}@example.com`;
    const reached = held.hold(write);
    const answer = signUp(branch, email);
    await reached;
    await close(office, { email });
    held.letGo();
    const { platform } = dataOf(await answer);
    const platformId: string = platform.id;
    expect(await balanceOf(office, platformId)).toBe(CREDIT);
    dataOf(await setStatus(office, { platformId }, "active"));
    expect(await balanceOf(office, platformId)).toBe(CREDIT);
    await close(office, { email });
    office.advance(7 * DAY);
    await untilErased(office, { platformId });
    expect((await storedRows(office)).filter((row) => row.partitionKey === platformId)).toEqual([]);

    const again = dataOf(await signUp(office, email)).platform.id;
    expect(again).not.toBe(platformId);
    expect(await balanceOf(office, again)).toBe(0);
  },
);
