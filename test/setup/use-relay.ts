import { forFile } from "./for-file.ts";
import { startMailedRelay, type MailedRelay } from "./mail.ts";
import { startRelay, type Relay, type RelayOptions } from "./relay.ts";

type Settings = Readonly<Record<string, string>>;

/** Starts a relay before the tests of a file, and stops it after them. */
export const useRelay = (options: RelayOptions = {}): Relay => forFile(() => startRelay(options));

/** One more process of a relay's deployment, which is started by then. */
const useAnother = (relay: () => Relay): Relay =>
  forFile(() => startRelay({ sameDeploymentAs: relay() }));

/** Two processes of one deployment. */
export function useTwoProcesses(settings: Settings = {}) {
  const relay = useRelay({ settings });
  return { relay, instance: useAnother(() => relay) };
}

/** A relay with a mail server. */
export const useMailedRelay = (options: () => RelayOptions = () => ({})): MailedRelay =>
  forFile(() => startMailedRelay(options()));

/** Two processes of one deployment, the first with a mail server. */
export function useTwoMailedProcesses() {
  const mailed = useMailedRelay();
  return { mailed, second: useAnother(() => mailed.relay) };
}
