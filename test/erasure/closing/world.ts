import type { Sandbox } from "../../../sandbox/server.ts";
import { aMarkedProfile, worldSettings, type MarkedProfile } from "../world.ts";
import { dataOf, freshSession, outcomeOf } from "../../setup/factories.ts";
import { startMailedRelay, type MailedRelay } from "../../setup/mail.ts";
import { startRelay, type Answer, type Relay } from "../../setup/relay.ts";
import { storedRows, type DumpedRow } from "../../setup/stored-rows.ts";
import { runWalks } from "../../setup/walks.ts";
import type { Receiver } from "../../webhooks/receiver.ts";

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;
const MINUTES_MAX = 240;
const NAME = "Example Media";

/** A deployment whose users were made without mail, so that they are verified, and which has a mail server now. */
export interface ClosingWorld {
  /** Before there was mail. */
  readonly before: Relay;
  readonly relay: Relay;
  readonly mailed: MailedRelay;
  readonly receiver: Receiver;
  stop(): Promise<void>;
}

export async function startWorld(
  sandbox: Sandbox,
  receiver: Receiver,
  settings: Readonly<Record<string, string>> = {},
): Promise<ClosingWorld> {
  const before = await startRelay({
    settings: { ...worldSettings(sandbox, receiver), SERVICE_NAME: "Relay", ...settings },
  });
  const mailed = await startMailedRelay({ sameDeploymentAs: before });
  const { relay } = mailed;
  const stop = async () => {
    await mailed.stop();
    await before.stop();
  };
  return { before, relay, mailed, receiver, stop };
}

/** A customer with something in every place where the product keeps what is a platform's. */
export interface Customer extends MarkedProfile {
  readonly platformId: string;
  readonly email: string;
}

export async function aCustomer({ before, receiver }: ClosingWorld): Promise<Customer> {
  const profile = await aMarkedProfile(before, receiver);
  const { id: platformId, email } = profile.application.platform;
  return { ...profile, platformId, email };
}

export const askIn = (relay: Relay, session: string, name = NAME): Promise<Answer> =>
  relay.call("POST", "/v1/platform/close", { session, body: { name } });

/** Asks to close the platform, in a session of its own. */
export async function askToClose(
  relay: Relay,
  customer: Pick<Customer, "email">,
  name = NAME,
): Promise<Answer> {
  return await askIn(relay, await freshSession(relay, customer), name);
}

export async function close(relay: Relay, customer: Pick<Customer, "email">): Promise<string> {
  return dataOf(await askToClose(relay, customer)).erasedAt;
}

export const setStatus = (
  relay: Relay,
  { platformId }: Pick<Customer, "platformId">,
  status: "active" | "suspended",
) => {
  const call = { operator: ["Admin"], body: { status } };
  return relay.call("PATCH", `/v1/admin/platforms/${platformId}`, call);
};

export const readPlatform = (relay: Relay, { platformId }: Pick<Customer, "platformId">) =>
  relay.call("GET", `/v1/admin/platforms/${platformId}`, { operator: ["Operator"] });

const EACH_MINUTE = [
  "fire-due-posts",
  "sweep-stalled-work",
  "sweep-endpoints",
  "erase-profiles",
  "send-mails",
];

/** Lets minutes pass, each with the work that is due in it. */
export async function pass(relay: Relay, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await relay.drain();
    await runWalks(relay.services, ...EACH_MINUTE);
    relay.advance(MINUTE);
  }
  await relay.drain();
}

/** Lets minutes pass until nobody finds the platform any more. */
export async function untilErased(
  relay: Relay,
  customer: Pick<Customer, "platformId">,
): Promise<void> {
  for (let minute = 0; minute < MINUTES_MAX; minute += 1) {
    await pass(relay, 1);
    if (outcomeOf(await readPlatform(relay, customer)) === "404 not_found") return;
  }
  throw new Error("the platform was not erased");
}

/** Rows that tell of the customer: by an id, the address or a text. Counts of requests end with the daily purge. */
export async function traces(
  relay: Relay,
  { mark, platformId, profileId, application, email }: Customer,
): Promise<readonly DumpedRow[]> {
  const tell = [mark, platformId, profileId, application.id, application.keyId, email];
  const rows = await storedRows(relay);
  return rows.filter(
    ({ table, text }) => table !== "ratewindows" && tell.some((one) => text.includes(one)),
  );
}
