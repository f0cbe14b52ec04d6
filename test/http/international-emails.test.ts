import { expect, test } from "vitest";
import { dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay({ settings: { ALLOW_SIGNUP: "true" } });

test("an address with an international domain is one address in both spellings, wherever it is sent", async () => {
  const [written, stored] = ["olga@пример.рф", "olga@xn--e1afmkfd.xn--p1ai"];
  const signUp = (email: string) =>
    relay.call("POST", "/v1/auth/signup", {
      body: { email, password: PASSWORD, platformName: "Example" },
    });
  expect(dataOf(await signUp(written)).user.email).toBe(stored);
  expect(outcomeOf(await signUp(stored))).toBe("409 conflict");
  for (const email of [written, stored, stored.toUpperCase()]) {
    const login = { body: { email, password: PASSWORD } };
    expect(outcomeOf(await relay.call("POST", "/v1/auth/login", login))).toBe("200");
    const found = await relay.call("GET", `/v1/admin/users?email=${encodeURIComponent(email)}`, {
      operator: ["Admin"],
    });
    expect(dataOf(found)).toMatchObject([{ email: stored }]);
  }
  const platform = { name: "Another", ownerEmail: "li@例え.テスト", ownerPassword: PASSWORD };
  const made = await relay.call("POST", "/v1/admin/platforms", {
    operator: ["Admin"],
    body: platform,
  });
  expect(dataOf(made).user.email).toBe("li@xn--r8jz45g.xn--zckzah");
  const { token: session } = dataOf(
    await relay.call("POST", "/v1/auth/login", { body: { email: written, password: PASSWORD } }),
  );
  const invited = await relay.call("POST", "/v1/invitations", {
    session,
    body: { email: "Info@BÜCHER.example" },
  });
  expect(dataOf(invited).email).toBe("Info@xn--bcher-kva.example");
});
