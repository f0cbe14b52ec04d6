import { describe, expect, test, vi } from "vitest";
import { parseAnswer } from "../../src/shared/runtime/http-call.ts";
import { isNestedTooDeep, JSON_DEPTH_MAX } from "../../src/shared/runtime/json-depth.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);

describe("JSON that is nested deep", () => {
  test.each([lists, objects])("is known by its brackets outside of texts (%#)", (nested) => {
    expect(isNestedTooDeep(nested(JSON_DEPTH_MAX))).toBe(false);
    expect(isNestedTooDeep(nested(JSON_DEPTH_MAX + 1))).toBe(true);
    const wide = JSON.stringify(Array.from({ length: 1_000 }, () => ({ a: ['[{\\"['] })));
    expect(isNestedTooDeep(wide)).toBe(false);
    expect(isNestedTooDeep(JSON.stringify(lists(1_000)))).toBe(false);
    expect(isNestedTooDeep(`["\\\\",${nested(JSON_DEPTH_MAX)}]`)).toBe(true);
  });

  test("is no answer of a network", () => {
    expect(parseAnswer(lists(400_000))).toBeUndefined();
    expect(parseAnswer(lists(JSON_DEPTH_MAX))).toBeDefined();
  });

  test("is refused in a request before it is parsed", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const rawBody = lists(130_000);
    const headers = { "content-type": "application/json" };
    const { status, body } = await relay.call("POST", "/v1/auth/login", { rawBody, headers });
    const parsed = parse.mock.calls.some(([text]) => text === rawBody);
    parse.mockRestore();
    expect([status, parsed]).toEqual([400, false]);
    expect(body.error.details.issues).toEqual([
      {
        path: "body",
        code: "too_deep",
        message: "The body must not be nested deeper than 20 levels.",
      },
    ]);
  });
});
