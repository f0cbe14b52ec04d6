import type { LinkFailure } from "../../networks/contract/link.ts";
import type { NetworkName } from "../../networks/networks.ts";
import type { ConnectionsDeps } from "../deps.ts";

/** Logs why a step of linking failed. Operators are called where the network refuses our app, or limits it. */
export function logFailedLink(
  { log }: Pick<ConnectionsDeps, "log">,
  step: "an account was not linked" | "an authorization was not started",
  { network, session }: { readonly network: NetworkName; readonly session: string },
  { code, note, isUnproven }: LinkFailure,
): void {
  log.info(step, { network, session, code, note });
  const isLimit = code === "service_limited";
  if (isLimit || (code === "service_refused" && isUnproven !== true))
    log.error("a network refuses the app", { network, note, isLimit });
}
