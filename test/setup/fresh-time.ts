import { newId } from "../../src/shared/runtime/ids.ts";
import { vi } from "vitest";
import { startClocksAnew } from "./test-clock.ts";

/**
 * A file of tests begins as a process does: with real timers and nothing in the place of a global's methods, with clocks
 * at their start, and with no id made before, however far ahead the previous file had set its clock. Ids keep to the
 * latest time that they were given, but for a clock that was set back by more than a minute.
 */
vi.useRealTimers();
vi.restoreAllMocks();
startClocksAnew();
newId("request", new Date(1));
