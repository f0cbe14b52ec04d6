import { expect, inject, test } from "vitest";

test("the app's sources make a bundle", () => {
  expect(inject("bundleError")).toBe("");
});
