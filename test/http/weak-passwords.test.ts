import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { aPlatform, outcomeOf, PASSWORD } from "../setup/factories.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

const uniqueEmail = () => `somebody-${randomBytes(8).toString("hex")}@bakery.example`;

const signUp = (password: string, more: object = {}) =>
  relay.call("POST", "/v1/auth/signup", {
    body: { email: uniqueEmail(), password, platformName: "Corner Bakery", ...more },
  });

interface Issue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

describe("a password that is set", () => {
  test.each([
    ["a common one", "password1234", "what many people choose"],
    ["the row of the keyboard", "qwertyuiop[]", "what many people choose|keyboard"],
    ["a word again and again", "letmeinletmein", "repeats itself"],
    ["a letter again and again", "x".repeat(64), "repeats itself"],
    ["the platform's name", "Corner Bakery 12", "the platform's name"],
    ["the platform's name in one word", "cornerbakery1!", "the platform's name"],
    ["the service's name", "PublishingRelay1", "the service's name"],
  ])("a password that is set may not be %s", async (_name, password, reason) => {
    const { status, body } = await signUp(password);
    expect([status, body.error.code]).toEqual([400, "validation_failed"]);
    expect(body.error.details.issues).toEqual([
      { path: "password", code: "password_too_weak", message: expect.stringMatching(reason) },
    ]);
  });

  test("a password that is set may not be the email", async () => {
    const { body } = await signUp("ann.baker@bakery.example", {
      email: "ann.baker@bakery.example",
    });
    expect(body.error.details.issues[0]).toMatchObject({
      code: "password_too_weak",
      message: expect.stringContaining("the email"),
    });
  });

  test.each([
    "correct horse battery staple",
    PASSWORD,
    "Tr8bZ-q9Lw2-mmVx0",
    "vier Schnecken im Regen",
  ])("a password that is set may be %s", async (password) => {
    expect(outcomeOf(await signUp(password))).toBe("201");
  });

  test("a password that is set is rated by its first 100 characters", async () => {
    const strong = "vier Schnecken im Regen 42";
    expect(outcomeOf(await signUp(strong))).toBe("201");
    const { body } = await signUp(`${"a".repeat(100)}${strong}`);
    expect(body.error.details.issues).toMatchObject([
      { code: "password_too_weak", message: expect.stringContaining("repeats itself") },
    ]);
  });

  test("a password that is set is rated once nothing else is wrong", async () => {
    const { body } = await signUp("password1234", { email: "none", platformName: "", more: 1 });
    const issues: readonly Issue[] = body.error.details.issues;
    expect(issues.map(({ path }) => path).toSorted()).toEqual(["email", "more", "platformName"]);
  });

  test.each([
    ["marguerite.x1y21", "marguerite.x1y2@bakery.example", "Corner"],
    ["Sunflower-Bakehouse!", "ann@bakery.example", "Sunflower Bakehouse"],
    ["backhaus-sonne", "ann@bakery.example", "Backhaus Sonne"],
    ["SONNE backhaus 2026", "ann@bakery.example", "Backhaus Sonne"],
    ["BackerMuller2026", "ann@bakery.example", "Bäcker Müller"],
    ["Strassenfest-2026", "ann@bakery.example", "Straßenfest"],
  ])("a password that is set may not be %s for %s of %s", async (password, local, platformName) => {
    const [name, domain] = local.split("@");
    const email = `${name}@${randomBytes(4).toString("hex")}.${domain}`;
    const { body } = await signUp(password, { email, platformName });
    expect(body.error.details.issues).toMatchObject([
      { code: "password_too_weak", message: expect.stringContaining("is made of the email") },
    ]);
  });

  test.each([
    ["sunflower tractor 42 marble", "Sunflower Bakehouse"],
    ["Bakehouse9kQ7x2ZpLm", "Sunflower Bakehouse"],
  ])("a password that is set may be %s at %s, because enough is left", async (password, name) => {
    expect(outcomeOf(await signUp(password, { platformName: name }))).toBe("201");
  });

  test("a password that is set has its length in composed characters", async () => {
    const decomposed = "käse für öl".normalize("NFD");
    expect(decomposed.length).toBeGreaterThan(12);
    const { body } = await signUp(decomposed);
    expect(body.error.details.issues[0]).toMatchObject({ path: "password", code: "too_small" });
  });

  test("a password that is set is checked wherever one is set, and never at a login", async () => {
    const { session, email } = await aPlatform(relay);
    const weak = "password1234";
    const tries = [
      await relay.call("POST", "/v1/auth/password", {
        session,
        body: { currentPassword: PASSWORD, newPassword: weak },
      }),
      await relay.call("POST", "/v1/users", {
        session,
        body: { email: uniqueEmail(), password: weak },
      }),
      await relay.call("POST", "/v1/admin/platforms", {
        operator: ["Admin"],
        body: { name: "Example", ownerEmail: uniqueEmail(), ownerPassword: weak },
      }),
    ];
    for (const { status, body } of tries)
      expect([status, body.error.details.issues[0].code]).toEqual([400, "password_too_weak"]);
    const login = { body: { email, password: weak } };
    expect(outcomeOf(await relay.call("POST", "/v1/auth/login", login))).toBe(
      "401 invalid_credentials",
    );
  });

  test("a password that takes long to estimate holds nobody else up", async () => {
    const slow = signUp("p4ssw0rd".repeat(16));
    let isDone = false;
    const noteEnd = async () => {
      await slow;
      isDone = true;
    };
    void noteEnd();
    for (let index = 0; index < 20; index += 1) await relay.call("GET", "/health");
    expect(isDone).toBe(false);
    expect(outcomeOf(await slow)).toBe("400 validation_failed");
  });
});
