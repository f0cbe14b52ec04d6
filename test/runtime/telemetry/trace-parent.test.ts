import { describe, expect, test } from "vitest";
import {
  formatTraceParent,
  newSpanId,
  newTraceId,
  parseTraceParent,
} from "../../../src/shared/runtime/telemetry/work-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("a traceparent", () => {
  test.each([
    ["recorded", `00-${TRACE}-${SPAN}-01`],
    ["not recorded", `00-${TRACE}-${SPAN}-00`],
    ["with flags of the next level", `00-${TRACE}-${SPAN}-03`],
    ["of a later version", `01-${TRACE}-${SPAN}-01`],
    ["of a later version with more fields", `cc-${TRACE}-${SPAN}-01-what-the-future-brings`],
    ["with blanks around it", ` 00-${TRACE}-${SPAN}-01 `],
  ])("%s is taken", (_name, text) => {
    expect(parseTraceParent(text)).toEqual({ traceId: TRACE, spanId: SPAN });
  });

  test.each([
    ["none", null],
    ["empty", ""],
    ["no text", 1],
    ["without flags", `00-${TRACE}-${SPAN}`],
    ["with capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["of the forbidden version", `ff-${TRACE}-${SPAN}-01`],
    ["of no trace", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["of no span", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["with a short trace", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["with more than its version has", `00-${TRACE}-${SPAN}-01-more`],
    ["of a later version that runs on without a dash", `01-${TRACE}-${SPAN}-01more`],
    ["sent twice", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ["that would break a header", `00-${TRACE}-${SPAN}-01\r\nx: y`],
    ["of any length", `01-${TRACE}-${SPAN}-01-${"x".repeat(10_000)}`],
  ])("%s is not", (_name, text) => {
    expect(parseTraceParent(text)).toBeUndefined();
  });

  test("a traceparent of ours is one that others take", () => {
    const ours = { traceId: newTraceId(), spanId: newSpanId() };
    expect(parseTraceParent(formatTraceParent(ours))).toEqual(ours);
    expect(newTraceId()).not.toBe(ours.traceId);
  });
});
