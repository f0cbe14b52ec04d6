import { expect, test } from "vitest";
import { CUTS } from "../setup/cutting-mail-server.ts";
import { startRelay } from "../setup/relay.ts";
import { startTroubled } from "./troubled.ts";

/** What the process has said last at a step that is no command. */
const LAST_COMMAND: Readonly<Record<string, string>> = {
  body: "DATA",
  taken: "DATA",
  QUIT: "DATA",
};
const ANSWER_MS = 5_000;

/** A server that doesn't answer at a step holds the process there until it is killed. */
test.each([...CUTS.filter((cut) => cut !== "connect" && cut !== "greeting"), "QUIT"] as const)(
  "a process that is killed at %s loses no mail, and only one after the final dot comes twice",
  async (step) => {
    const troubled = await startTroubled();
    const { server, relay } = troubled;
    let isDead = false;
    const doomed = await startRelay({
      sameDeploymentAs: relay,
      mailLimits: { connect: 5_000, step: 300, acceptance: 60_000 },
      tableFault: () => (isDead ? "dies_before" : "pass"),
    });
    server.cut = step;
    // After the final dot the server has the mail, and is about to say so.
    if (step === "taken") server.delayMs = ANSWER_MS;
    else server.answer = "";
    relay.queues.onSend = () => "lose";
    const [reader = ""] = await troubled.post(1);
    const running = doomed.runTimer("send-mails");
    const command = LAST_COMMAND[step] ?? step;
    const isThere = () => server.said.some((line) => line.startsWith(command));
    await expect.poll(isThere, { timeout: 5_000 }).toBe(true);
    if (step === "taken") await expect.poll(() => server.taken.length).toBe(1);
    isDead = true;
    server.hangUp();
    server.cut = undefined;
    server.answer = undefined;
    server.delayMs = undefined;
    relay.queues.onSend = () => "keep";
    await troubled.pass(15 * 60);
    const copies = troubled.copies().get(reader) ?? 0;
    expect(copies).toBe(step === "taken" ? 2 : 1);
    expect(await troubled.waiting()).toEqual([]);
    running.catch(() => undefined);
    await doomed.stop();
    await troubled.stop();
  },
);
