import { expect, test } from "vitest";
import { startTroubled } from "../mail/troubled.ts";

const SECOND_MS = 1_000;
const TEN_MINUTES_MS = 10 * 60 * SECOND_MS;

/** With the service's own time limits: a server that takes ten true minutes to answer a mail gets it once. */
test(
  "a mail that is answered after ten minutes is sent once, and the mails behind it don't wait",
  { timeout: TEN_MINUTES_MS + 3 * 60 * SECOND_MS },
  async () => {
    const troubled = await startTroubled();
    const { server, relay } = troubled;
    server.cut = "taken";
    server.delayMs = TEN_MINUTES_MS - SECOND_MS;
    const [slow = ""] = await troubled.post(1);
    server.cut = undefined;
    server.delayMs = undefined;
    const others = await troubled.post(5);
    const got = async () => {
      await relay.drain();
      return others.filter((reader) => troubled.copies().get(reader) === 1).length;
    };
    await expect.poll(got, { timeout: 30 * SECOND_MS }).toBe(others.length);
    // The timer goes on each minute, and the process prolongs its claim in the same time.
    const startedAt = Date.now();
    while ((await troubled.waiting()).length > 0 && Date.now() - startedAt < TEN_MINUTES_MS) {
      await new Promise((resolve) => setTimeout(resolve, 30 * SECOND_MS));
      await troubled.pass(30);
    }
    await expect.poll(() => troubled.waiting(), { timeout: 60 * SECOND_MS }).toEqual([]);
    await troubled.pass(60 * 60);
    expect(troubled.copies().get(slow)).toBe(1);
    expect(server.taken).toHaveLength(1 + others.length);
    await troubled.stop();
  },
);
