import { expect } from "vitest";
import { startMailedRelay, type MailedRelay } from "../setup/mail.ts";
import { dyingAt, type Death } from "../setup/dying-relay.ts";
import type { Answer, Relay } from "../setup/relay.ts";

const MINUTE_MS = 60_000;
/** Longer than a dead process keeps the walk that sends mails, and a mail that it may have sent. */
const GO_ON_MINUTES = 5;
/** Longer than a claim of an email is kept for a user who was never stored. */
const ABANDONED_MS = 11 * MINUTE_MS;

interface Arrival {
  readonly at: number;
  readonly to: string;
  readonly id: string;
}

/** A deployment whose mail server notes what arrives, and when by the clock of the test. */
export interface World {
  readonly mailed: MailedRelay;
  readonly arrivals: readonly Arrival[];
  stop(): Promise<void>;
}

export async function startWorld(settings: Readonly<Record<string, string>>): Promise<World> {
  const mailed = await startMailedRelay({ settings });
  const arrivals: Arrival[] = [];
  const add = mailed.mailbox.add.bind(mailed.mailbox);
  // The method of this one object, which ends with the test.
  mailed.mailbox.add = (mail) => {
    const [, id = ""] = /^Message-ID: (.*)$/im.exec(mail.raw.toString("latin1")) ?? [];
    const at = mailed.relay.clock.now().getTime();
    for (const to of mail.to) arrivals.push({ at, to, id });
    add(mail);
  };
  return { mailed, arrivals, stop: () => mailed.stop() };
}

/** A mail that something causes: exactly one, or one each time that it is asked for. */
interface Caused {
  readonly to: string;
  readonly subject: RegExp;
  readonly eachTime?: true;
}

/** What a process may be killed in, and what holds afterwards. */
export interface Flow<Made> {
  /** What is there before. */
  prepare(world: World): Promise<Made>;
  /** The request of the process that dies. Its user gets no answer, and asks again. */
  ask(made: Made, on: Relay): Promise<Answer>;
  /** Whether the request has had its effect. */
  isDone(made: Made, world: World): Promise<boolean>;
  /** The mails that come with the effect, also where a process died. */
  mails?(made: Made): readonly Caused[];
  /** What else holds in the end. */
  end?(made: Made, world: World): Promise<void>;
}

/** The timers and messages of some minutes. */
async function goOn({ mailed: { relay } }: World): Promise<void> {
  for (let minute = 0; minute < GO_ON_MINUTES; minute += 1) {
    relay.advance(MINUTE_MS);
    await relay.drain();
    await relay.runTimer("send-mails");
  }
}

async function expectMails({ mailed }: World, caused: readonly Caused[], asked: number) {
  for (const { to, subject, eachTime } of caused) {
    const found = (await mailed.mailsTo(to)).filter((mail) => subject.test(mail.subject));
    const idOf = ({ headers }: { readonly headers: readonly string[] }) =>
      headers.find((line) => /^message-id:/i.test(line));
    const different = new Set(found.map(idOf)).size;
    expect(different, `mails to ${to} about ${subject}`).toBeGreaterThanOrEqual(1);
    expect(different, `mails to ${to} about ${subject}`).toBeLessThanOrEqual(eachTime ? asked : 1);
  }
}

/** Returns how often mails came a second time. @throws where that was within a minute */
export function repeatsOf(arrivals: readonly Arrival[]): number {
  const latest = new Map<string, number>();
  let repeats = 0;
  for (const { at, to, id } of arrivals) {
    const before = latest.get(`${id} ${to}`);
    latest.set(`${id} ${to}`, at);
    if (before === undefined) continue;
    repeats += 1;
    expect(at - before, "milliseconds between a mail and its repeat").toBeGreaterThanOrEqual(
      MINUTE_MS,
    );
  }
  return repeats;
}

export type Dying = (world: World, death: Death) => Promise<"died" | "lived">;

/**
 * Makes the case of a flow: a process dies in it, the others go on, and its user, who got no answer, asks again. Nothing
 * that had its effect has lost its mail, and nothing is left that keeps the second request from having it.
 */
export function dying<Made>(flow: Flow<Made>): Dying {
  return async (world, death) => {
    const { relay } = world.mailed;
    const made = await flow.prepare(world);
    const ask = async (on: Relay) => {
      const answer = await flow.ask(made, on);
      await on.drain();
      return answer;
    };
    const end = await dyingAt(relay, death, ask);
    await goOn(world);
    const caused = flow.mails?.(made) ?? [];
    const wasDone = await flow.isDone(made, world);
    if (wasDone) await expectMails(world, caused, 1);
    let asked = 2;
    let answer = await ask(relay);
    if (!wasDone && answer.status === 409) {
      relay.advance(ABANDONED_MS);
      asked += 1;
      answer = await ask(relay);
    }
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(wasDone ? 500 : 300);
    await goOn(world);
    expect(await flow.isDone(made, world)).toBe(true);
    await expectMails(world, caused, asked);
    await flow.end?.(made, world);
    return end;
  };
}
