import { describe, expect, test, vi } from "vitest";
import { aPlatform, PASSWORD, type TestPlatform, freshSession } from "../setup/factories.ts";
import type { Answer, Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay, instance } = useTwoProcesses();

const addUser = (on: Relay, { session }: TestPlatform, email: string) =>
  on.call("POST", "/v1/users", { session, body: { email, password: PASSWORD } });

const logIn = (on: Relay, email: string) =>
  on.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } });

const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

const countOf = (answers: readonly Answer[], wanted: number) =>
  answers.filter(({ status }) => status === wanted).length;

describe("an email that is taken", () => {
  test("costs no hash, no matter who asks for it and how often", async () => {
    const [mine, other] = [
      await aPlatform(relay, { tokens: 0 }),
      await aPlatform(relay, { tokens: 0 }),
    ];
    const hash = vi.spyOn(relay.services.people.secrets.passwords, "inTurn");
    const added = await Promise.all(many(60, () => addUser(relay, mine, other.email)));
    const body = { email: other.email, password: PASSWORD, platformName: "Example" };
    const signedUp = await relay.call("POST", "/v1/auth/signup", { body });
    const made = await relay.call("POST", "/v1/admin/platforms", {
      operator: ["Admin"],
      body: { name: "Example", ownerEmail: other.email, ownerPassword: PASSWORD },
    });
    expect(hash).not.toHaveBeenCalled();
    hash.mockRestore();
    expect([signedUp.status, made.status]).toEqual([409, 409]);
    expect(countOf(added, 409) + countOf(added, 429)).toBe(60);
    expect(countOf(added, 409)).toBeGreaterThan(0);
  });

  test("an email that is taken stays free when there was no room for its hash", async () => {
    const team = await aPlatform(relay, { tokens: 0 });
    const email = "no-room@example.com";
    const hash = vi.spyOn(relay.services.people.secrets.passwords, "inTurn");
    hash.mockRejectedValueOnce(new Error("no room"));
    expect((await addUser(relay, team, email)).status).toBe(500);
    hash.mockRestore();
    expect((await addUser(relay, team, email)).status).toBe(201);
  });

  test("stays so for ten minutes after a process that ended before it had made the user", async () => {
    const team = await aPlatform(relay, { tokens: 0 });
    const email = "crashed@example.com";
    const { userId, ...rest } = { userId: "usr_01M7W9E67FZ0MY7YCJ6NF25H01", platformId: team.id };
    const at = relay.clock.now().toISOString();
    await relay.services.people.stores.emails.claim(email, { userId, ...rest }, at);
    expect((await addUser(relay, team, email)).status).toBe(409);
    relay.advance(10 * 60_000);
    const session = await freshSession(relay, team);
    expect((await addUser(instance, { ...team, session }, email)).status).toBe(201);
    expect((await logIn(relay, email)).status).toBe(200);
  });
});

describe("new passwords", () => {
  test("new passwords of a platform's staff are 30 a minute, over all instances, and told when more are", async () => {
    const [team, other] = [
      await aPlatform(relay, { tokens: 0 }),
      await aPlatform(relay, { tokens: 0 }),
    ];
    const answers: Answer[] = [];
    for (let index = 0; index < 36; index += 1) {
      const on = index % 2 === 0 ? relay : instance;
      answers.push(await addUser(on, team, `staff-${index}@example.com`));
    }
    expect(countOf(answers, 201)).toBeGreaterThanOrEqual(30);
    expect(countOf(answers, 201)).toBeLessThanOrEqual(33);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error.code).toBe("rate_limited");
    const retryAfter = Number(refused?.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThan(0);
    expect((await addUser(relay, other, "staff-of-another@example.com")).status).toBe(201);
    relay.advance(2 * 60_000);
    expect((await addUser(relay, team, "staff-later@example.com")).status).toBe(201);
  });

  test("new passwords of a user are ten a minute", async () => {
    const { session } = await aPlatform(relay, { tokens: 0 });
    const body = { currentPassword: PASSWORD, newPassword: PASSWORD };
    const answers: Answer[] = [];
    for (let index = 0; index < 12; index += 1)
      answers.push(await relay.call("POST", "/v1/auth/password", { session, body }));
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([10, 2]);
  });
});
