import { describe, expect, test } from "vitest";
import { mailboxOf } from "../../src/shared/people/staff/starting-credit.ts";
import { dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay({ settings: { SIGNUP_CREDIT_TOKENS: "500" } });

const signUp = (email: string, on: Relay = relay, ip = "192.0.2.1"): Promise<Answer> =>
  on.call("POST", "/v1/auth/signup", {
    headers: { "x-forwarded-for": ip },
    body: { email, password: PASSWORD, platformName: "Corner Bakery" },
  });

const balanceOf = async (answer: Answer, on: Relay = relay): Promise<number> => {
  const session = dataOf(answer).token;
  return dataOf(await on.call("GET", "/v1/me", { session })).tokenBalance;
};

test.each([
  ["Ann@Example.com ", "ann@example.com"],
  ["ann+shop@example.com", "ann@example.com"],
  ["ann.baker+1@gmail.com", "annbaker@gmail.com"],
  ["a.n.n@googlemail.com", "ann@gmail.com"],
  ["ann.baker@example.com", "ann.baker@example.com"],
])("%j is the mailbox %s", (email, mailbox) => {
  expect(mailboxOf(email)).toBe(mailbox);
});

describe("the starting credit", () => {
  test("the starting credit is made at the sign-up, and shown in the ledger", async () => {
    const answer = await signUp("first@example.com");
    expect(await balanceOf(answer)).toBe(500);
    const { token: session, platform } = dataOf(answer);
    const [entry] = dataOf(await relay.call("GET", "/v1/billing/usage", { session }));
    expect(entry).toMatchObject({
      type: "credit",
      operation: "billing.credit",
      tokens: 500,
      note: "Starting credit",
    });
    // The same reference credits nothing more.
    const credit = { platformId: platform.id, tokens: 500, reference: `signup:${platform.id}` };
    const call = { operator: ["Admin"], body: credit };
    expect(outcomeOf(await relay.call("POST", "/v1/billing/admin/credit", call))).toBe("201");
    expect(await balanceOf(answer)).toBe(500);
  });

  test("the starting credit is made once per mailbox, however it is spelled, and at once", async () => {
    const spellings = ["b.o.b@gmail.com", "bob@gmail.com", "bob+1@gmail.com", "BOB@googlemail.com"];
    const answers = await Promise.all(spellings.map((email) => signUp(email)));
    const balances = await Promise.all(answers.map((answer) => balanceOf(answer)));
    expect(balances.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 500]);
  });

  test("the starting credit is made once, also when its user was removed and signs up again, and with a new pepper", async () => {
    const email = "again@example.com";
    const first = await signUp(email);
    expect(await balanceOf(first)).toBe(500);
    const { token: session, user } = dataOf(first);
    const other = { email: "other@example.com", password: PASSWORD, role: "owner" };
    dataOf(await relay.call("POST", "/v1/users", { session, body: other }));
    expect(outcomeOf(await relay.call("DELETE", `/v1/users/${user.id}`, { session }))).toBe("204");
    const rotated = await startRelay({
      sameDeploymentAs: relay,
      settings: {
        KEY_PEPPER: "another pepper of more than thirty-two characters",
        KEY_PEPPER_PREVIOUS: relay.services.config.identity.keyPepper,
      },
    });
    expect(await balanceOf(await signUp(email, rotated), rotated)).toBe(0);
    await rotated.stop();
  });

  test("the starting credit is nothing unless the operators say so, and stores no address", async () => {
    const own = await startRelay();
    expect(await balanceOf(await signUp("plain@example.com", own), own)).toBe(0);
    await own.stop();
    const rows = (await storedRows(relay)).filter(({ table }) => table === "emails");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toMatch(/bob|first|gmail/);
  });
});

describe("sign-ups of an address", () => {
  test("sign-ups of an address are five a day, those that fail included, side by side too; the next day five more", async () => {
    const own = await startRelay({ settings: { SIGNUPS_PER_ADDRESS_DAY: "5" } });
    dataOf(await signUp("taken@example.com", own));
    expect(outcomeOf(await signUp("taken@example.com", own))).toBe("409 conflict");
    const more = await Promise.all(
      Array.from({ length: 6 }, (_, index) => signUp(`more-${index}@example.com`, own)),
    );
    const refused = more.filter(({ status }) => status === 429);
    expect([more.filter(({ status }) => status === 201).length, refused.length]).toEqual([3, 3]);
    const wait = Number(refused[0]?.headers.get("retry-after"));
    expect(refused[0]?.body.error.details).toEqual({ retryAfter: wait });
    expect(outcomeOf(await signUp("other@example.com", own, "192.0.2.2"))).toBe("201");
    own.advance(wait * 1000);
    expect(outcomeOf(await signUp("tomorrow@example.com", own))).toBe("201");
    await own.stop();
  });
});
