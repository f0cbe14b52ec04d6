import { checkAccounts as stepsOfAccounts } from "../../src/shared/background/account-checks/check-accounts.ts";
import { runWalk, type Walk } from "../../src/shared/background/walk.ts";
import { WALKS } from "../../src/shared/background/walks.ts";
import type { Services } from "../../src/shared/compose.ts";
import { systemScope } from "../../src/shared/host/worker.ts";
import type { StoredWake, WakeKind } from "../../src/shared/wake/wake.ts";

const RUN_MS = 60_000;

/** A round of a walk, or what is left of one. @throws what a step fails with */
export async function runRound(services: Services, asked: Walk, isAsked = true): Promise<void> {
  let failure: unknown;
  const begin: Walk["begin"] = (...parts) => {
    const take = asked.begin(...parts);
    return async (at) => {
      try {
        return await take(at);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
  };
  const walk = { ...asked, begin };
  const options = { system: systemScope(services, "test"), runMs: RUN_MS, isAsked };
  let end = await runWalk(services.background, walk, options);
  while (end === "time_up") end = await runWalk(services.background, walk, options);
  if (end === "failed") throw failure;
}

const isNamed = (name: string) => (walk: Walk) =>
  name === "purge-expired-rows" ? walk.name.startsWith("purge-") : walk.name === name;

/** A round of each of these walks, due or not; `purge-expired-rows` are those of all kinds. */
export async function runWalks(services: Services, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const walks = WALKS.filter(isNamed(name));
    if (walks.length === 0) throw new Error(`there is no walk ${name}`);
    for (const walk of walks) await runRound(services, walk);
  }
}

const round =
  (...names: readonly string[]) =>
  (services: Services) =>
    runWalks(services, ...names);

export const enqueueDuePosts = round("fire-due-posts");
export const enqueueDueDeliveries = round("hint-due-deliveries");
export const sweepStalledLegs = round("sweep-stalled-work", "sweep-endpoints");
export const eraseProfiles = round("erase-profiles");
export const findForgottenWork = round("find-forgotten-work");
export const reconcileWallets = round("reconcile-wallets");
export const purgeExpired = round("purge-expired-rows");

/** What the schedule of the accounts does when it comes: nothing where a day's round is over. */
export function checkAccounts(
  services: Services,
  bounds?: Parameters<typeof stepsOfAccounts>[1],
): Promise<void> {
  const walk = WALKS.find(isNamed("look-after-accounts"));
  if (walk === undefined) throw new Error("there is no such walk");
  const steps: Walk["begin"] = (of) => stepsOfAccounts(of, bounds);
  return runRound(services, { ...walk, resumesEvery: "tick", begin: steps }, false);
}

/** All rows of a kind in the wake index. */
export async function wakesOf(
  { webhooks: { wakes } }: Services,
  kind: WakeKind,
): Promise<StoredWake[]> {
  const found: StoredWake[] = [];
  let after: string | undefined;
  do {
    const page = await wakes.list(kind, { to: "9" }, after);
    found.push(...page.wakes);
    after = page.next;
  } while (after !== undefined);
  return found;
}
