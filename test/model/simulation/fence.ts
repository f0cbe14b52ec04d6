import { postRoutes } from "../../../src/functions/posts.ts";
import type { ApplicationScope } from "../../../src/shared/callers/scope.ts";
import { buildServices, type Services } from "../../../src/shared/compose.ts";
import { answer } from "../../../src/shared/http/answer.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { issueKey } from "../../../src/shared/tenants/keys/create-key.ts";
import { IS_LONG } from "../../setup/long-check.ts";
import { Machine, natureOf, type Nature } from "../machine.ts";
import { tablesOver } from "../model-client.ts";
import { Random } from "../random.ts";
import { TableModel } from "../table-model.ts";
import { inVirtualTime, VirtualTime } from "../virtual-time.ts";
import { FAIR } from "../weather.ts";
import { THE_PRODUCT, type Mutant } from "./mutant.ts";
import { KEYS_HOST, NetworkModel } from "./network-model.ts";
import { Observer, SILENT } from "./observer.ts";
import { createTenants, linkAccount, type Tenant } from "./tenants.ts";

/*
 * What is taken away is gone once that was answered. Customers publish and read on some processes, all of which have
 * kept rows; on another one something is taken away and given back, and that process ends at every step of it.
 */

const START = Date.parse("2026-03-04T10:00:00.000Z");
const TIMES = 5_000;
const APART_MS = 60 * 60_000;
const LONGEST_MS = 10 * 60_000;
const SETTINGS = {
  AZURE_FUNCTIONS_ENVIRONMENT: "Development",
  AzureWebJobsStorage: "UseDevelopmentStorage=true",
  BCRYPT_COST: "4",
  RATE_LIMIT_PER_MINUTE: "1000000",
  PLATFORM_RATE_PER_MINUTE: "1000000",
};

const KINDS = ["platform", "application", "profile", "account", "key"] as const;
type Kind = (typeof KINDS)[number];
/** Without these, nothing may be read either. */
const ENDS_READING: ReadonlySet<Kind> = new Set(["platform", "application", "key"]);

/** The calls of a change, each of which is once the last one of the process. */
const STEPS = 8;
/** Each kind of change with each step; every other pair of runs has faults of storage. */
const SEEDS = KINDS.length * STEPS;
const SEEDS_MAX = 2_000;
const ROUNDS = 2;
const CLIENTS = 4;
const PROCESSES = 2;
const PAUSE_MS_MAX = 60;
const BETWEEN_MS = [50, 400] as const;
const TRIES_MAX = 60;
const SKEW_MS_MAX = 2_500;

const FAULTY = { ...FAIR, write: 0.04, read: 0.02, page: 0.1, slow: 0.005 };

/** What a customer asks for. */
type Ask = "createPost" | "getPost";

interface Told {
  readonly status: number;
  readonly data: { readonly id?: string };
  readonly code: string;
}

/** What was answered last of the change; `changing` while one is under way. */
type State = "given" | "taken" | "changing";

interface Process {
  readonly machine: Machine;
  readonly services: Services;
}

/** One seeded run of the model. */
class Fence {
  readonly violations: string[] = [];
  readonly #kind: Kind;
  readonly #step: number;
  readonly #nature: Nature;
  readonly #random: Random;
  readonly #startsAt: number;
  readonly #time: VirtualTime;
  readonly #model = new TableModel();
  readonly #networks: NetworkModel;
  readonly #mutant: Mutant;
  #state: State = "given";
  /** Grows with each beginning and each answer of a change. */
  #moment = 0;
  #isOver = false;
  #posts = 0;
  #connectionId = "";
  #observer: Observer | undefined;
  readonly #isFaulty: boolean;
  #known: Process | undefined;

  constructor(seed: number, mutant: Mutant) {
    this.#kind = KINDS[seed % KINDS.length] ?? "key";
    this.#step = Math.floor(seed / KINDS.length) % STEPS;
    this.#isFaulty = Math.floor(seed / 2) % 2 === 1;
    this.#mutant = mutant;
    this.#random = new Random(seed * 104_729 + mutant.era);
    // Each at a time of its own, for ids of a process go on where the last run's ended.
    this.#startsAt = START + ((61 * seed + 7 * mutant.era) % TIMES) * APART_MS;
    this.#time = new VirtualTime(this.#startsAt);
    this.#nature = natureOf(this.#time, this.#random);
    this.#nature.rates = FAIR;
    this.#networks = new NetworkModel(this.#nature);
  }

  #violate(what: string): void {
    this.violations.push(`${what} when the ${this.#kind} was ${this.#state}`);
  }

  run(): Promise<readonly string[]> {
    return inVirtualTime(this.#time, this.#random, async () => {
      let isDone = false;
      const failed: string[] = [];
      void this.#run()
        .catch(
          (error: unknown) => void failed.push(error instanceof Error ? String(error.stack) : ""),
        )
        .finally(() => (isDone = true));
      const isCaught = () => isDone || this.violations.length > 0;
      if (!(await this.#time.pass(this.#startsAt + LONGEST_MS, isCaught)))
        failed.push("it did not end");
      return [...this.violations, ...failed];
    });
  }

  /** Where changes are made: one process, as long as it lives. */
  #office(): Process {
    if (this.#known?.machine.isDead !== false) this.#known = this.#start();
    return this.#known;
  }

  #start(): Process {
    const machine = new Machine("process", this.#nature);
    const skewMs = this.#random.between(-SKEW_MS_MAX, SKEW_MS_MAX);
    const services = buildServices(parseConfig(SETTINGS), {
      tables: tablesOver(this.#model, machine),
      queue: () => ({ send: () => Promise.resolve(), ping: () => Promise.resolve() }),
      outbound: this.#networks.open(machine),
      clock: { now: () => new Date(this.#time.now + skewMs) },
      log: SILENT,
    });
    this.#mutant.services?.(services);
    return { machine, services };
  }

  async #run(): Promise<void> {
    const { services } = this.#office();
    const tenant = (await createTenants(services, () => 1_000_000)).at(2);
    if (tenant === undefined) throw new Error("there is no tenant");
    await this.#link(services, tenant);
    const { platformId } = tenant.scope;
    const session = { sessionId: "first", sessionVersion: 1 };
    const rights = {
      expiresAt: "2027-01-01T00:00:00.000Z",
      confirmedUntil: null,
      role: "owner",
    } as const;
    const caller = {
      kind: "session",
      userId: "owner",
      platformId,
      ...session,
      ...rights,
    } as const;
    const scope: ApplicationScope = { ...tenant.scope, caller };
    const { key, secret } = await issueKey(services.tenants, scope, {
      name: "key",
      scope: "restricted",
      allowedProfileIds: [tenant.scope.profileId],
      expiresAt: null,
    });
    if (this.#isFaulty) this.#nature.rates = FAULTY;
    const clients = Array.from({ length: PROCESSES }, () => this.#start()).flatMap((host) =>
      Array.from({ length: CLIENTS / PROCESSES }, () => this.#ask(host.services, tenant, secret)),
    );
    this.#observer = new Observer(this.#model, this.#time, () => [tenant]);
    await this.#change(tenant, key.id);
    this.#isOver = true;
    await Promise.all(clients);
  }

  async #link(services: Services, { scope, name }: Tenant): Promise<void> {
    const id = newId("connection", services.clock.now());
    const link = ["mastodon", KEYS_HOST] as const;
    this.#connectionId = await linkAccount(services, scope, { name, link, id });
  }

  /** Takes away and gives back. A key that was revoked is gone for good. */
  async #change(tenant: Tenant, keyId: string): Promise<void> {
    const rounds = this.#kind === "key" ? 1 : ROUNDS;
    for (let round = 0; round < rounds; round += 1) {
      await this.#time.wait(this.#random.between(...BETWEEN_MS));
      await this.#until("taken", (services) => this.#take(services, tenant, keyId, round));
      const before = await this.#count();
      await this.#time.wait(this.#random.between(...BETWEEN_MS));
      const accepted = (await this.#count()) - before;
      if (accepted > 0) this.#violate(`${accepted} posts were accepted`);
      if (this.#kind === "key") return;
      await this.#until("given", (services) => this.#give(services, tenant));
    }
    await this.#time.wait(this.#random.between(...BETWEEN_MS));
  }

  async #count(): Promise<number> {
    return (await this.#observer?.posts())?.length ?? 0;
  }

  async #take(
    services: Services,
    { scope }: Tenant,
    keyId: string,
    round: number,
  ): Promise<unknown> {
    const { platformId, applicationId, profileId } = scope;
    const at = services.clock.now().toISOString();
    switch (this.#kind) {
      case "platform":
        // Suspended first, and closed by its owner then.
        return round === 0
          ? await services.tenants.stores.platforms.setStatus(platformId, "suspended", at)
          : await services.tenants.stores.closings.close(platformId, at, []);
      case "application":
        return await services.tenants.stores.applications.setStatus(
          platformId,
          applicationId,
          "disabled",
          at,
        );
      case "profile":
        return await services.tenants.stores.profiles.update(platformId, profileId, (profile) => ({
          ...profile,
          status: "disabled",
        }));
      case "account":
        return await services.connections.stores.connections.revoke({
          ...scope,
          network: "mastodon",
          id: this.#connectionId,
        });
      case "key":
        return await services.tenants.stores.keys.revoke({ id: keyId, platformId, applicationId });
    }
  }

  async #give(services: Services, tenant: Tenant): Promise<unknown> {
    const { platformId, applicationId, profileId } = tenant.scope;
    const at = services.clock.now().toISOString();
    switch (this.#kind) {
      case "platform":
        return await services.tenants.stores.platforms.setStatus(platformId, "active", at);
      case "application":
        return await services.tenants.stores.applications.setStatus(
          platformId,
          applicationId,
          "active",
          at,
        );
      case "profile":
        return await services.tenants.stores.profiles.update(platformId, profileId, (profile) => ({
          ...profile,
          status: "active",
        }));
      case "account":
        return await this.#link(services, tenant);
      case "key":
        return undefined;
    }
  }

  /** Repeats a change, on another process where one has died over it, until it is answered. */
  async #until(
    state: Exclude<State, "changing">,
    change: (services: Services) => Promise<unknown>,
  ): Promise<void> {
    this.#moment += 1;
    this.#state = "changing";
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const { machine, services } = this.#office();
      if (tries === 0 && this.#step > 0) machine.doom(this.#step);
      const answered = change(services).then(
        () => true,
        (error: unknown) => {
          if (error instanceof AppError && error.code === "service_unavailable") return false;
          throw error;
        },
      );
      if ((await Promise.race([machine.died, answered])) === true) {
        this.#state = state;
        this.#moment += 1;
        return;
      }
      await this.#time.wait(this.#random.between(...BETWEEN_MS));
    }
    throw new Error("a change was never answered");
  }

  /** Asks for posts, and reads one of them, until all is over. */
  async #ask(services: Services, { scope }: Tenant, secret: string): Promise<void> {
    let known: string | undefined;
    while (!this.#isOver) {
      await this.#time.wait(this.#random.below(PAUSE_MS_MAX));
      const ask: Ask = known !== undefined && this.#random.chance(0.5) ? "getPost" : "createPost";
      const [state, moment] = [this.#state, this.#moment];
      const told = await this.#call(services, ask, { secret, profileId: scope.profileId, known });
      if (moment === this.#moment) this.#judge(ask, told, state);
      if (ask === "createPost" && told.status === 202) known = told.data.id;
    }
  }

  /** What may be told about what was asked for while nothing changed. */
  #judge(ask: Ask, { status, code }: Told, state: State): void {
    const isDone = status < 300;
    if (state === "given" && !isDone && status !== 503)
      this.#violate(`${ask} was refused with ${code}`);
    const isTaken = ask === "createPost" || ENDS_READING.has(this.#kind);
    if (state === "taken" && isTaken && isDone) this.#violate(`${ask} was answered with ${status}`);
  }

  async #call(
    services: Services,
    ask: Ask,
    { secret, profileId, known }: { secret: string; profileId: string; known: string | undefined },
  ): Promise<Told> {
    const route = postRoutes.find(({ spec }) => spec.operationId === ask);
    if (route === undefined) throw new Error(`there is no route ${ask}`);
    this.#posts += 1;
    const name = `post-key-${this.#posts}`;
    const body = { text: `The text of ${name}.`, platforms: ["mastodon"] };
    const headers = new Headers({
      authorization: `Bearer ${secret}`,
      "x-profile-id": profileId,
      "content-type": "application/json",
      "idempotency-key": name,
    });
    const outgoing = await answer(route, services, {
      method: ask === "getPost" ? "GET" : "POST",
      url: new URL("https://relay.example.com/v1/posts"),
      headers,
      params: known === undefined ? {} : { postId: known },
      body: () => Promise.resolve(Buffer.from(ask === "getPost" ? "" : JSON.stringify(body))),
    });
    const { data = {}, error } = JSON.parse(String(outgoing.body)) as {
      readonly data?: Told["data"];
      readonly error?: { readonly code: string };
    };
    return { status: outgoing.status, data, code: error?.code ?? "" };
  }
}

/**
 * What is wrong in the first run in which anything is. A mutant's runs begin with the one that is known to show it, and
 * go on until one does.
 */
export async function fence(mutant: Mutant): Promise<readonly string[]> {
  const first = IS_LONG ? 1 : (mutant.firstSeed ?? 1);
  const last = IS_LONG || mutant !== THE_PRODUCT ? SEEDS_MAX : SEEDS;
  for (let seed = first; seed <= last; seed += 1) {
    const violations = await new Fence(seed, mutant).run();
    if (violations.length > 0) return violations.map((one) => `seed ${seed}: ${one}`);
  }
  return [];
}
