import { expect, test } from "vitest";
import { dpopNonces } from "../../src/shared/networks/bluesky/account-call.ts";

test("the nonces that servers choose take a bounded memory, and a long one is not kept", () => {
  const last = "https://pds-399.example.com";
  for (let server = 0; server < 400; server += 1)
    dpopNonces.set(`https://pds-${server}.example.com`, `nonce ${server}`);
  expect(dpopNonces.get(last)).toBe("nonce 399");
  expect(dpopNonces.get("https://pds-0.example.com")).toBeUndefined();
  dpopNonces.set(last, "x".repeat(200_000));
  expect(dpopNonces.get(last)).toBeUndefined();
});
