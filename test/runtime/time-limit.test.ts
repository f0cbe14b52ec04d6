import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withTimeLimit } from "../../src/shared/runtime/promises.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => undefined);
const late = () => {
  throw new Error("too late");
};

test("work that ends in time is answered as it ended, and leaves no timer behind", async () => {
  await expect(withTimeLimit(100, Promise.resolve("done"), late)).resolves.toBe("done");
  await expect(withTimeLimit(100, Promise.reject(new Error("failed")), late)).rejects.toThrow(
    "failed",
  );
  expect(vi.getTimerCount()).toBe(0);
});

test("work that takes longer is answered by what stands in for it, be it a value or an error", async () => {
  const value = withTimeLimit(100, never(), () => "late");
  const error = expect(withTimeLimit(100, never(), late)).rejects.toThrow("too late");
  await vi.advanceTimersByTimeAsync(99);
  expect(vi.getTimerCount()).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  await expect(value).resolves.toBe("late");
  await error;
});

test("work that fails after the limit fails unheard", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const limited = withTimeLimit(100, promise, () => "late");
  await vi.advanceTimersByTimeAsync(100);
  await expect(limited).resolves.toBe("late");
  reject(new Error("unheard"));
  await vi.advanceTimersByTimeAsync(0);
});
