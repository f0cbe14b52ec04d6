import type { LegFailure } from "../../../src/shared/networks/contract/outcome.ts";
import { chargeTogether, walletWrites } from "../../../src/shared/ledger/ledger.ts";
import type { OperatorScope } from "../../../src/shared/callers/scope.ts";
import { buildServices, type Services } from "../../../src/shared/compose.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { postWake } from "../../../src/shared/publishing/post.ts";
import type { Profile } from "../../../src/shared/tenants/profiles/profile.ts";
import { hintWakes } from "../../../src/shared/wake/wake.ts";
import { newEvent } from "../../../src/shared/events/events.ts";
import { firstDelivery } from "../../../src/shared/webhooks/deliveries/queue-delivery.ts";
import { redriveDead } from "../../../src/shared/webhooks/deliveries/redrive.ts";
import { Machine, natureOf } from "../machine.ts";
import { tablesOver } from "../model-client.ts";
import { Random } from "../random.ts";
import { TableModel } from "../table-model.ts";
import { inVirtualTime, VirtualTime } from "../virtual-time.ts";
import type { Mutant } from "./mutant.ts";
import { SILENT } from "./observer.ts";
import { createEndpoint, creditTokens, linkAccount } from "./tenants.ts";
import { connectionListViolations, nameViolations } from "./lists.ts";
import { bounded } from "../../setup/bounded.ts";
import { aCharge } from "../../setup/a-charge.ts";

/* What takes more rows, or more requests, than a run of the simulation has: each a question of its own. */

const START = Date.parse("2026-03-04T10:00:00.000Z");
const LONGEST_MS = 10 * 60_000;

interface Setting {
  readonly processes: number;
  readonly start?: number;
  /** How far the clocks are from the time, in milliseconds; the first of them is the first process's. */
  readonly skewsMs?: readonly number[];
}

/** Some processes over one storage, in which nothing fails; what was wrong. */
async function among(
  mutant: Mutant,
  { processes, start: startsAt = START, skewsMs = [] }: Setting,
  run: (services: readonly Services[], time: VirtualTime) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const restore = mutant.install?.();
  const random = new Random(7);
  const time = new VirtualTime(startsAt);
  const nature = natureOf(time, random);
  const model = new TableModel();
  const config = parseConfig({
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    BCRYPT_COST: "4",
  });
  const start = (_: unknown, index: number): Services => {
    const now = () => new Date(time.now + (skewsMs[index] ?? 0));
    const tables = tablesOver(model, new Machine(`process ${index}`, nature));
    const services = buildServices(config, {
      tables: mutant.tables?.(tables, now) ?? tables,
      queue: () => ({ send: () => Promise.resolve(), ping: () => Promise.resolve() }),
      clock: { now },
      log: SILENT,
    });
    mutant.services?.(services);
    return services;
  };
  try {
    return await inVirtualTime(time, random, async () => {
      let violations: readonly string[] = ["it did not come to an end"];
      let isOver = false;
      void run(Array.from({ length: processes }, start), time)
        .then((found) => (violations = found))
        .finally(() => (isOver = true));
      await time.pass(time.now + LONGEST_MS, () => isOver);
      return violations;
    });
  } finally {
    restore?.();
  }
}

const spendOne = (services: Services, platformId: string, operationId: string) => {
  const own = { actor: { kind: "system", id: "small model" }, requestId: operationId } as const;
  return chargeTogether(services.ledger, platformId, [aCharge(operationId, 1, own)]);
};

const CONTESTANTS = 8;
const CLIENTS = 4;
const CONTEST_MS = 12_000;
/** A third longer than anybody waits, in virtual time, which is the same wherever this runs. */
const WAIT_MS_MAX = 3_000;

/** Many clients of some processes spend from one wallet for longer than an operation is tried: everybody is served. */
export const contest = (mutant: Mutant): Promise<readonly string[]> =>
  among(mutant, { processes: CONTESTANTS }, async (processes, time) => {
    const [first] = processes;
    if (first === undefined) return [];
    const platformId = newId("platform", new Date(START));
    await creditTokens(first, platformId, "contest", 1_000_000);
    // What was read before is not what any of them goes by.
    await time.wait(1_000);
    const until = time.now + CONTEST_MS;
    const refused: string[] = [];
    const slowest: number[] = [];
    const spend = async (services: Services, name: string) => {
      for (let turn = 0; time.now < until; turn += 1) {
        const from = time.now;
        const operationId = `${name} ${turn}`;
        try {
          await spendOne(services, platformId, operationId);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          refused.push(`${operationId} was answered ${error.code}`);
        }
        slowest.push(time.now - from);
      }
    };
    await Promise.all(
      processes.flatMap((services, index) =>
        Array.from({ length: CLIENTS }, (_, client) => spend(services, `${index}.${client}`)),
      ),
    );
    const worstMs = Math.max(...slowest);
    return worstMs > WAIT_MS_MAX ? [...refused, `somebody waited for ${worstMs} ms`] : refused;
  });

const OPERATOR: OperatorScope = {
  requestId: "small model",
  ip: "",
  caller: { kind: "operator", subject: "simulation", roles: ["Admin"] },
};
/** More than one call looks at. */
const STUCK = 1_050;
const BEHIND = 3;
const CALLS_MAX = 4;

/** An operator who goes on with the cursor comes behind more dead deliveries of a disabled endpoint than a call takes. */
export const redrives = (mutant: Mutant): Promise<readonly string[]> =>
  among(mutant, { processes: 1 }, async ([services], time) => {
    if (services === undefined) return [];
    const now = new Date(time.now);
    const [platformId, applicationId] = [newId("platform", now), newId("application", now)];
    const endpoint = await createEndpoint(
      services,
      { platformId, applicationId },
      { url: "https://hooks.example.com/", status: "disabled" },
      now,
    );
    const type = "billing.balance_low";
    const fields = { type, profileId: null, postId: null, sequence: null, data: {} } as const;
    const event = newEvent({ ...fields, applicationId }, now);
    const dead = Array.from({ length: STUCK + BEHIND }, (_, index) => ({
      ...firstDelivery(event, endpoint, now),
      id: newId("delivery", now),
      status: "dead" as const,
      diedAt: new Date(START - index * 1_000).toISOString(),
    }));
    await services.webhooks.stores.pending.insertAbsent(endpoint.id, dead.slice(0, STUCK));
    await Promise.all(
      dead.map((one) => services.webhooks.stores.deadDeliveries.add(one, one.diedAt)),
    );
    let cursor: string | undefined;
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      const { nextCursor } = await redriveDead(services.webhooks, OPERATOR, { cursor });
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    // Those behind have no row of their own any more: who comes to them takes them off the list.
    const { items } = await services.webhooks.stores.deadDeliveries.list(
      {},
      { after: undefined, limit: 2_000 },
    );
    const left = items.length - STUCK;
    return left === 0 ? [] : [`${left} dead deliveries were never come to`];
  });

/** More than a page has. */
const BELATED = 1_050;
const BELATED_BY_MS = 90 * 60_000;
const STEPS_MAX = 50;

/** Rows of due work that were written into minutes long worked through are all hinted by one round of the walk. */
export const belated = (mutant: Mutant): Promise<readonly string[]> =>
  among(mutant, { processes: 1 }, async ([services], time) => {
    if (services === undefined) return [];
    const { wakes } = services.webhooks;
    const now = new Date(time.now);
    const platformId = newId("platform", now);
    const profileId = newId("profile", now);
    const posts = Array.from({ length: BELATED }, () => newId("post", now));
    const dueAt = new Date(time.now - BELATED_BY_MS).toISOString();
    for (const postId of posts)
      await wakes.add(postWake({ platformId, profileId, postId }, dueAt), now);
    const hinted = new Set<string>();
    const step = hintWakes(services.webhooks, {
      kind: "post",
      what: "belated",
      hint: ({ id }) => Promise.resolve(void hinted.add(id)),
    });
    let position: unknown;
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      const at = { roundAt: now, counts: {}, lastCounts: {}, failures: 0, isTimeUp: () => false };
      const { next } = await step({ ...at, position });
      if (next === undefined) break;
      position = next;
    }
    const left = BELATED - hinted.size;
    return left === 0 ? [] : [`${left} belated posts were never hinted`];
  });

const MIDNIGHT = Date.parse("2026-03-05T00:00:00.000Z");
const AROUND_MS = 4_000;
/** As far apart as clocks of the service may be. */
const SKEWS_MS = [-2_500, 2_500];
const BUDGET = 5;

/** Two processes, one of which is in the next day already, spend from one wallet: each day has one budget. */
export const midnight = (mutant: Mutant): Promise<readonly string[]> =>
  among(
    mutant,
    { processes: 2, start: MIDNIGHT - AROUND_MS, skewsMs: SKEWS_MS },
    async (processes, time) => {
      const [first] = processes;
      if (first === undefined) return [];
      const platformId = newId("platform", first.clock.now());
      await creditTokens(first, platformId, "midnight", 1_000);
      await first.ledger.partitions.commit(platformId, {
        id: "budget",
        rowKeys: [],
        decide: (view) => ({
          kind: "write",
          writes: walletWrites(view, { dailyBudget: BUDGET }),
          answer: undefined,
        }),
      });
      let spent = 0;
      const spend = async (services: Services, name: string) => {
        for (let turn = 0; time.now < MIDNIGHT + AROUND_MS; turn += 1)
          try {
            await spendOne(services, platformId, `${name} ${turn}`);
            spent += 1;
          } catch (error) {
            if (!(error instanceof AppError) || error.code !== "daily_budget_reached") throw error;
          }
      };
      await Promise.all(processes.map((services, index) => spend(services, String(index))));
      return spent === 2 * BUDGET ? [] : [`${spent} tokens were spent on two days of ${BUDGET}`];
    },
  );

const DAYS_MS = 24 * 60 * 60_000;

/** Two processes in turn change accounts and a profile in every way: the lists of the application are right after each. */
export const listings = (mutant: Mutant): Promise<readonly string[]> =>
  among(mutant, { processes: 2 }, async (processes, time) => {
    const [first, second] = processes;
    if (first === undefined || second === undefined) return [];
    const now = () => first.clock.now();
    const [platformId, applicationId, profileId] = [
      newId("platform", now()),
      newId("application", now()),
      newId("profile", now()),
    ];
    const place = { platformId, profileId, network: "mastodon" } as const;
    const stored = async () => {
      const found = await first.connections.stores.connections.find(place);
      if (found === undefined) throw new Error("nothing is linked");
      return found;
    };
    const link = (name: string) => async (services: Services) => {
      const id = newId("connection", now());
      const owner = { platformId, applicationId, profileId };
      await linkAccount(services, owner, { name, link: ["mastodon", "a.example"], id });
    };
    const mark =
      (failure: LegFailure | null) =>
      async ({ connections: { stores } }: Services) => {
        await stores.connections.mark(await stored(), failure);
      };
    const refuse = mark({ code: "connection_needs_reauth", networkCode: null });
    const renew =
      (days: number) =>
      async ({ connections: { stores } }: Services) => {
        const expiresAt = new Date(time.now + days * DAYS_MS).toISOString();
        const credentials = bounded({ accessToken: `for ${days} days` });
        await stores.connections.saveRefreshed(await stored(), { credentials, expiresAt });
      };
    const warn = async ({ connections: { stores } }: Services) =>
      stores.accountChecks.recordWarned(await stored());
    const revoke = async ({ connections: { stores } }: Services) => {
      await stores.connections.revoke(await stored());
    };
    const change =
      (changes: Partial<Profile>) =>
      async ({ tenants: { stores } }: Services) => {
        await stores.profiles.update(platformId, profileId, (one) => ({ ...one, ...changes }));
      };
    const at = now().toISOString();
    const steps: readonly ((services: Services) => Promise<unknown>)[] = [
      ({ tenants: { stores } }) =>
        stores.profiles.create(platformId, {
          id: profileId,
          applicationId,
          title: "Before",
          externalId: "mine",
          metadata: {},
          status: "active",
          createdAt: at,
          updatedAt: at,
        }),
      link("one"),
      refuse,
      link("one"),
      refuse,
      mark(null),
      renew(3),
      warn,
      refuse,
      mark(null),
      renew(4),
      renew(60),
      renew(3),
      warn,
      link("one"),
      renew(3),
      warn,
      link("two"),
      refuse,
      revoke,
      link("two"),
      renew(2),
      warn,
      revoke,
      change({ title: "After" }),
      change({ externalId: "after" }),
      change({ title: "Mine" }),
      change({ externalId: null }),
      async ({ connections: { stores } }) => stores.connections.remove(await stored()),
      ({ tenants: { stores } }) => stores.profiles.delete(platformId, profileId),
    ];
    for (const [index, step] of steps.entries()) {
      await step(index % 2 === 0 ? first : second);
      const { stores } = second.connections;
      const list = async (name: "application" | "attention") => {
        const part = { index: name, platformId, applicationId, at: undefined, rows: 100 };
        return (await stores.connections.listIndexed(part)).map(({ entry }) => entry);
      };
      const lists = { application: await list("application"), attention: await list("attention") };
      const { profiles } = second.tenants.stores;
      const profile = await profiles.find(platformId, profileId);
      const part = { platformId, applicationId, beginning: "", at: undefined, rows: 100 };
      const wrong = [
        ...connectionListViolations(lists, await stores.connections.listOfProfile(place)),
        ...nameViolations(await profiles.listNames(part), profile === undefined ? [] : [profile]),
      ];
      if (wrong.length > 0) return wrong.map((text) => `after step ${index}: ${text}`);
      await time.wait(1_000);
    }
    return [];
  });
