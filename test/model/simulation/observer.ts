import { buildServices, type Services } from "../../../src/shared/compose.ts";
import type { Connection } from "../../../src/shared/connections/connection.ts";
import type { StoredEntry } from "../../../src/shared/ledger/wallet-row.ts";
import { isBusy, legStatusOf } from "../../../src/shared/publishing/leg.ts";
import type { PostWithLegs } from "../../../src/shared/publishing/post-store.ts";
import type { IndexName } from "../../../src/shared/publishing/post.ts";
import type { Profile } from "../../../src/shared/tenants/profiles/profile.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import type { Log } from "../../../src/shared/runtime/log.ts";
import type { Delivery } from "../../../src/shared/webhooks/deliveries/delivery.ts";
import type { Event } from "../../../src/shared/events/events.ts";
import { natureOf } from "../machine.ts";
import { tablesOver } from "../model-client.ts";
import { Random } from "../random.ts";
import { CalmMachine } from "../storage-model.ts";
import type { TableModel } from "../table-model.ts";
import type { VirtualTime } from "../virtual-time.ts";
import { connectionListViolations, listViolations, nameViolations } from "./lists.ts";
import type { Tenant } from "./tenants.ts";

const PAGE = 1_000;

export const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => SILENT,
};

const uniq = (values: readonly string[]) => [...new Set(values)];

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | undefined;
}

async function all<Item>(
  list: (after: string | undefined) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page = await list(after);
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

/**
 * Reads a run through the verbs of the product's modules, in a process of its own that has no safeguard taken away, and
 * whose calls take no time and never fail. It knows no table and no row.
 */
export class Observer {
  readonly services: Services;
  readonly #tenants: () => readonly Tenant[];

  constructor(model: TableModel, time: VirtualTime, tenants: () => readonly Tenant[]) {
    const config = parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      BCRYPT_COST: "4",
    });
    this.services = buildServices(config, {
      tables: tablesOver(model, new CalmMachine("observer", natureOf(time, new Random(1)))),
      queue: () => ({ send: () => Promise.resolve(), ping: () => Promise.resolve() }),
      clock: { now: () => new Date(time.now) },
      log: SILENT,
    });
    this.#tenants = tenants;
  }

  get platformIds(): readonly string[] {
    return uniq(this.#tenants().map(({ scope }) => scope.platformId));
  }

  get endpointIds(): readonly string[] {
    return uniq(this.#tenants().map(({ endpointId }) => endpointId));
  }

  /** Returns the posts of each profile, with whatever platform they are stored. */
  async posts(platformIds = this.platformIds): Promise<PostWithLegs[]> {
    const found: PostWithLegs[] = [];
    for (const platformId of platformIds)
      for (const { scope } of this.#tenants()) {
        const owner = { platformId, profileId: scope.profileId };
        const list = (after: string | undefined) =>
          this.services.publishing.stores.posts.listOfProfile(
            owner,
            { after, limit: PAGE },
            () => true,
          );
        found.push(...(await all(list)));
      }
    return found;
  }

  /**
   * Returns what is wrong with the lists of a platform's posts, connections and profiles, or nothing if it `isOld` by the
   * time that all are read.
   */
  async wrongLists(platformId: string, isOld: () => boolean = () => false): Promise<string[]> {
    const posts = await this.posts([platformId]);
    const ofPlatform = this.#tenants().filter(({ scope }) => scope.platformId === platformId);
    const wrong: string[] = [];
    for (const applicationId of uniq(ofPlatform.map(({ scope }) => scope.applicationId))) {
      const read = async (index: IndexName) => {
        const entries = await all(async (at) => {
          const range = { index, platformId, applicationId, at, limit: PAGE };
          const items = await this.services.publishing.stores.postIndex.list(range);
          return { items, next: items.length < PAGE ? undefined : `${items.at(-1)?.key} ` };
        });
        return entries.map(({ post }) => post);
      };
      const lists = {
        application: await read("application"),
        problem: await read("problem"),
        schedule: await read("schedule"),
      };
      const own = posts.filter(({ post }) => post.applicationId === applicationId);
      wrong.push(...listViolations(lists, own));
      const profileIds = ofPlatform.flatMap(({ scope }) =>
        scope.applicationId === applicationId ? [scope.profileId] : [],
      );
      wrong.push(...(await this.#wrongNames(platformId, applicationId, uniq(profileIds))));
    }
    return isOld() ? [] : wrong;
  }

  async #wrongNames(
    platformId: string,
    applicationId: string,
    profileIds: readonly string[],
  ): Promise<string[]> {
    const { connections } = this.services.connections.stores;
    const { profiles } = this.services.tenants.stores;
    const read = async (index: "application" | "attention") => {
      const part = { index, platformId, applicationId, at: undefined, rows: PAGE };
      return (await connections.listIndexed(part)).map(({ entry }) => entry);
    };
    const lists = { application: await read("application"), attention: await read("attention") };
    const linked: Connection[] = [];
    const existing: Profile[] = [];
    for (const profileId of profileIds) {
      linked.push(...(await connections.listOfProfile({ platformId, profileId })));
      const profile = await profiles.find(platformId, profileId);
      if (profile !== undefined) existing.push(profile);
    }
    const part = { platformId, applicationId, beginning: "", at: undefined, rows: PAGE };
    const names = await profiles.listNames(part);
    return [...connectionListViolations(lists, linked), ...nameViolations(names, existing)];
  }

  /** Returns the entries of a platform, oldest first. */
  async ledger(platformId: string): Promise<StoredEntry[]> {
    const { ledger } = this.services.ledger.stores;
    return await ledger.entries(platformId, 0, await ledger.newest(platformId));
  }

  /** Returns the events that customers can list. */
  async events(): Promise<Event[]> {
    const found: Event[] = [];
    for (const id of uniq(this.#tenants().map(({ scope }) => scope.applicationId)))
      found.push(
        ...(await all(async (after = "") => {
          const items = await this.services.webhooks.stores.events.listAfter(id, after, PAGE);
          return { items, next: items.length < PAGE ? undefined : items.at(-1)?.id };
        })),
      );
    return found;
  }

  async deliveries(status?: Delivery["status"]): Promise<Delivery[]> {
    const found: Delivery[] = [];
    for (const id of this.endpointIds)
      found.push(
        ...(await all((after) =>
          this.services.webhooks.stores.deliveries.list(id, { status }, { after, limit: PAGE }),
        )),
      );
    return found;
  }

  async isAnyDead(): Promise<boolean> {
    const position = { after: undefined, limit: 1 };
    return (await this.services.webhooks.stores.deadDeliveries.list({}, position)).items.length > 0;
  }

  /** Returns what keeps a run from being at rest: the first kind of it. */
  async openWork(): Promise<string[]> {
    const { erasures } = this.services.erasure;
    const { events } = this.services.webhooks.stores;
    const { posts } = this.services.publishing.stores;
    const open: string[] = [];
    for (const id of this.platformIds) {
      const { works } = await posts.listOpenWork(id);
      open.push(...works.map(({ ref }) => `open work ${ref.postId}`));
      const pending = await events.listPending(id, PAGE);
      open.push(...pending.map((event) => `${event.type} ${event.id} was not fanned out`));
    }
    const { items } = await erasures.list(undefined);
    open.push(...items.map(({ id }) => `${id} is being erased`));
    if (open.length > 0) return open;
    const deliveries = await this.deliveries("pending");
    if (deliveries.length > 0) return deliveries.map(({ id }) => `the delivery ${id} is pending`);
    return (await this.posts()).flatMap(({ post, legs }) => [
      ...(post.status === "scheduled" || post.status === "processing"
        ? [`the post ${post.requestId} is ${post.status}`]
        : []),
      ...legs
        .filter(isBusy)
        .map((leg) => `${leg.network} of ${post.requestId} is ${legStatusOf(leg)}`),
    ]);
  }
}
