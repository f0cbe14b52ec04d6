import { expect, test } from "vitest";
import { CUTS } from "../setup/cutting-mail-server.ts";
import { casesOf } from "../setup/long-check.ts";
import { countOf, startTroubled, type Troubled } from "./troubled.ts";

/** Ten minutes are half a second here, and five are a quarter. A busy machine needs room above the last limit. */
const MAIL_LIMITS = { connect: 250, step: 250, acceptance: 1_000 };
const TEN_MINUTES_MS = 500;
const MAILS = 4;
/** The first mail and five repeats. */
const COPIES_MAX = 6;

type Trouble = (typeof CUTS)[number] | "QUIT";
const TROUBLES: readonly Trouble[] = [...CUTS, "QUIT"];

/** Waits for mails that are sent after the run that began them has ended. */
const settled = async ({ relay }: Troubled) => {
  await new Promise((resolve) => setTimeout(resolve, 2 * TEN_MINUTES_MS));
  await relay.drain();
};

async function through(trouble: Trouble, delayMs: number | undefined) {
  const troubled = await startTroubled({ mailLimits: MAIL_LIMITS });
  const { server } = troubled;
  server.cut = trouble;
  server.delayMs = delayMs;
  const readers = await troubled.post(MAILS);
  if (delayMs !== undefined) await settled(troubled);
  else await troubled.pass(600);
  server.cut = undefined;
  server.delayMs = undefined;
  await troubled.pass(3_600);
  const copies = troubled.copies();
  const figures = readers.map((reader) => copies.get(reader) ?? 0);
  const waiting = await troubled.waiting();
  await troubled.stop();
  return {
    sent: figures.filter((count) => count > 0).length,
    lost: figures.filter((count) => count === 0).length,
    doubled: figures.filter((count) => count > 1).length,
    most: Math.max(...figures),
    waiting: waiting.length,
    givenUp: countOf(troubled.relay.logLines, "mail given up"),
  };
}

test.each(TROUBLES)(
  "a server that hangs up at %s for ten minutes loses no mail, and only a lost acceptance doubles one",
  async (trouble) => {
    const figures = await through(trouble, undefined);
    expect(figures).toMatchObject({ sent: MAILS, lost: 0, waiting: 0, givenUp: 0 });
    if (trouble === "taken") expect(figures.most).toBeLessThanOrEqual(COPIES_MAX);
    else expect(figures.doubled).toBe(0);
  },
);

/** Where a server can be slow, from the end on: what was taken by then. */
const SLOW_AT = TROUBLES.filter((trouble) => trouble !== "connect" && trouble !== "body");

test.each(casesOf(SLOW_AT.toReversed(), 3))(
  "a server that takes ten minutes at %s loses no mail and doubles none",
  async (trouble) => {
    const figures = await through(trouble, TEN_MINUTES_MS);
    expect(figures).toMatchObject({ sent: MAILS, lost: 0, doubled: 0, waiting: 0, givenUp: 0 });
  },
);

test("a mail whose acceptance is always cut off is sent six times at most, each time later, and then given up", async () => {
  const troubled = await startTroubled();
  troubled.server.cut = "taken";
  const times: number[] = [];
  const seen = () => {
    while (times.length < troubled.server.taken.length)
      times.push(troubled.relay.clock.now().getTime());
  };
  await troubled.post(1);
  seen();
  for (let minutes = 0; minutes < 10 * 60; minutes += 1) {
    await troubled.pass(60);
    seen();
  }
  expect(times).toHaveLength(COPIES_MAX);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(gaps).toEqual(gaps.toSorted((left, right) => left - right));
  expect(gaps[0]).toBeGreaterThanOrEqual(60_000);
  const ids = troubled.server.taken.map((mail) => /^Message-ID: .*$/m.exec(mail)?.[0]);
  expect(new Set(ids).size).toBe(1);
  expect(await troubled.waiting()).toEqual([]);
  expect(countOf(troubled.relay.logLines, '"reason":"cut_off"')).toBe(1);
  await troubled.stop();
});

test("a server that is slow with one mail delays none of the others", async () => {
  const troubled = await startTroubled({
    mailLimits: { connect: 5_000, step: 700, acceptance: 30_000 },
  });
  const { server, relay } = troubled;
  server.cut = "taken";
  server.delayMs = 8_000;
  await troubled.post(1);
  server.cut = undefined;
  server.delayMs = undefined;
  const others = await troubled.post(6);
  // The slow one is still under way.
  const got = async () => {
    await relay.drain();
    return others.filter((reader) => troubled.copies().get(reader) === 1).length;
  };
  await expect.poll(got, { timeout: 5_000 }).toBe(others.length);
  expect(await troubled.waiting()).toHaveLength(1);
  await expect.poll(() => troubled.waiting(), { timeout: 20_000 }).toEqual([]);
  relay.advance(24 * 3_600_000);
  await troubled.pass(60);
  expect(server.taken).toHaveLength(7);
  await troubled.stop();
});
