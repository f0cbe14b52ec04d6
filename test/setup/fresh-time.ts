import { newId } from "../../src/shared/runtime/ids.ts";
import { startClocksAnew } from "./test-clock.ts";

/**
 * A file of tests begins as a process does: with clocks at their start, and with no id made before, however far ahead
 * the previous file had set its clock. Ids keep to the latest time that they were given, but for a clock that was set
 * back by more than a minute.
 */
startClocksAnew();
newId("request", new Date(1));
