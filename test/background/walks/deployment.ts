import { WebhookMessage } from "../../../src/functions/workers.ts";
import { continueWalk, runDueWalks } from "../../../src/shared/background/run-due-walks.ts";
import { buildServices, type Services } from "../../../src/shared/compose.ts";
import { hintsOf, systemScope } from "../../../src/shared/host/worker.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import type { Log, LogFields } from "../../../src/shared/runtime/log.ts";
import { inverted, newId, timeOfId } from "../../../src/shared/runtime/ids.ts";
import { MARK_MS, minuteOf } from "../../../src/shared/wake/wake.ts";
import { newEvent, PENDING_ROWS, toEventRow } from "../../../src/shared/events/events.ts";
import { WEBHOOK_QUEUE } from "../../../src/shared/webhooks/hint-queue.ts";
import { Machine, natureOf, type Nature } from "../../model/machine.ts";
import { tablesOver } from "../../model/model-client.ts";
import { Random } from "../../model/random.ts";
import { TableModel, type Properties } from "../../model/table-model.ts";
import { inVirtualTime, VirtualTime } from "../../model/virtual-time.ts";
import { FAIR } from "../../model/weather.ts";

const EVENT = {
  type: "billing.balance_low",
  profileId: null,
  postId: null,
  sequence: null,
  data: {},
} as const;
const START = Date.parse("2026-03-04T10:00:00.000Z");
const MINUTE_MS = 60_000;
/** How often a page is short or empty although there is more. */
const ODD_PAGES = 0.02;
/** The host asks a queue so often. */
const POLL_MS_MAX = 100;

export interface Line extends LogFields {
  readonly message: string;
}

interface Host {
  readonly machine: Machine;
  readonly services: Services;
}

/**
 * Processes over the storage model in virtual time, in which a call takes 2 to 24 ms: the timer comes each minute, to one
 * of them, and messages of walks go to any.
 */
export class Deployment {
  readonly time = new VirtualTime(START);
  readonly model = new TableModel();
  readonly nature: Nature;
  readonly lines: Line[] = [];
  /** When each platform's hint to fan out was first sent since `forget`. */
  readonly hinted = new Map<string, number>();
  /** Messages about walks. */
  handedOver = 0;
  readonly #random: Random;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #hosts: Host[] = [];
  #isTicking = false;

  constructor(seed = 1, settings: Readonly<Record<string, string>> = {}) {
    this.#random = new Random(seed);
    this.#settings = settings;
    this.nature = natureOf(this.time, this.#random);
    this.nature.rates = { ...FAIR, page: ODD_PAGES };
  }

  run<T>(use: () => Promise<T>): Promise<T> {
    return inVirtualTime(this.time, this.#random, use);
  }

  #log(): Log {
    const take = (message: string, fields: LogFields = {}) =>
      void this.lines.push({ ...fields, message });
    const log: Log = {
      debug: () => undefined,
      info: take,
      warn: take,
      error: take,
      with: () => log,
    };
    return log;
  }

  /** Starts a process. */
  start(change: (services: Services) => Services = (services) => services): Host {
    const config = parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      BCRYPT_COST: "4",
      ...this.#settings,
    });
    const machine = new Machine(`process ${this.#hosts.length + 1}`, this.nature);
    const services = buildServices(config, {
      tables: tablesOver(this.model, machine),
      queue: (name) => ({
        send: (message, delaySeconds = 0) =>
          machine.call(() => this.#arrive(name, message, delaySeconds)),
        ping: () => Promise.resolve(),
      }),
      poisonQueue: () => ({ receive: () => Promise.resolve([]) }),
      clock: { now: () => new Date(this.time.now) },
      log: this.#log(),
    });
    const host = { machine, services: change(services) };
    this.#hosts.push(host);
    return host;
  }

  #living(): Host {
    const living = this.#hosts.filter(({ machine }) => !machine.isDead);
    return this.#random.pick(living);
  }

  #arrive(queue: string, message: object, delaySeconds: number): void {
    if (queue !== WEBHOOK_QUEUE) return;
    for (const hint of hintsOf(message))
      this.#hintArrives(WebhookMessage().parse(hint), delaySeconds);
  }

  #hintArrives(hint: WebhookMessage, delaySeconds: number): void {
    if (hint.kind === "events" && !this.hinted.has(hint.platformId))
      this.hinted.set(hint.platformId, this.time.now);
    if (hint.kind !== "walk") return;
    this.handedOver += 1;
    const delayMs = delaySeconds * 1_000 + this.#random.below(POLL_MS_MAX);
    this.time.set(() => {
      const { services } = this.#living();
      void continueWalk(services.background, hint, systemScope(services, WEBHOOK_QUEUE));
    }, delayMs);
  }

  /** Has the timer come each minute from the next full one on. */
  startTimer(): void {
    const tick = () => {
      // A run that is not over yet keeps the next one waiting, as the host does.
      if (this.#isTicking) return;
      this.#isTicking = true;
      const { services, machine } = this.#living();
      const end = () => (this.#isTicking = false);
      void Promise.race([
        runDueWalks(services.background, systemScope(services, "timer")),
        machine.died,
      ]).then(end, end);
    };
    this.time.set(tick, MINUTE_MS - (this.time.now % MINUTE_MS), MINUTE_MS);
  }

  /** Lets time pass until it is so, or for so many minutes; answers whether it is so. */
  async pass(minutes: number, isDone?: () => boolean): Promise<boolean> {
    return this.time.pass(this.time.now + minutes * MINUTE_MS, isDone);
  }

  /** Writes rows as if they had been there before. */
  put(table: string, partitionKey: string, rows: Readonly<Record<string, Properties>>): void {
    this.model.createTable(table);
    const actions = Object.entries(rows).map(
      ([rowKey, properties]) => ({ kind: "put", rowKey, properties }) as const,
    );
    for (let start = 0; start < actions.length; start += 100)
      this.model.transact(table, partitionKey, actions.slice(start, start + 100));
  }

  /** Platforms in the index, with a name and nothing else. */
  platforms(count: number): string[] {
    const at = new Date(this.time.now);
    const ids = Array.from({ length: count }, () => newId("platform", at));
    const index = ids.map((id) => [`${inverted(timeOfId("platform", id))}|${id}`, {}] as const);
    this.put("core", "platforms", Object.fromEntries(index));
    return ids;
  }

  /** Says of platforms that they have open work, and gives them an event that no message stands for. */
  announce(platformIds: readonly string[]): void {
    const now = new Date(this.time.now);
    const at = new Date(Date.parse(minuteOf(now)) + MARK_MS).toISOString();
    const row = { at, createdAt: at, hintedAt: "", lost: 0, platformId: "", profileId: "" };
    const rows = platformIds.map((id) => [`${at}|${id}`, { ...row, id }] as const);
    this.put("wake", `platform|${at}`, Object.fromEntries(rows));
    for (const id of platformIds) {
      const event = newEvent({ ...EVENT, applicationId: newId("application", now) }, now);
      const { rowKey, ...columns } = toEventRow(PENDING_ROWS + event.id, event);
      this.put("core", id, { [rowKey]: columns });
    }
  }

  count(table: string, prefix = ""): number {
    return [...this.model.rows(table, prefix)].length;
  }

  said(message: string): Line[] {
    return this.lines.filter((line) => line.message === message);
  }
}
