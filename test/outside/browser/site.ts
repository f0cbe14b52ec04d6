import type { BrowserContext, Page } from "playwright-core";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import { anOwner, openWorld, type Owner, type World } from "../../connections/world.ts";
import { DEMO_APPS } from "../../setup/demo-apps.ts";
import { serveRelay } from "../../setup/relay-server.ts";
import { freePort } from "../../setup/free-ports.ts";

/** Where a customer's end users come back to. */
const RETURN_URL = "https://app.customer.example.org/back";

/** The relay and the networks, where a browser of this machine finds them. */
export interface BrowserSite {
  readonly world: World;
  readonly baseUrl: string;
  close(): Promise<void>;
}

export async function openSite(): Promise<BrowserSite> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}/api`;
  const world = await openWorld({ ...DEMO_APPS, PUBLIC_BASE_URL: baseUrl });
  const server = await serveRelay(world.relay, port);
  return {
    world,
    baseUrl,
    async close() {
      await server.close();
      await world.close();
    },
  };
}

interface Started {
  readonly id: string;
  readonly connectUrl: string;
}

/** One end user of a customer of their own. */
export class Visitor {
  readonly owner: Owner;
  readonly page: Page;
  readonly #world: World;

  constructor(world: World, owner: Owner, page: Page) {
    this.#world = world;
    this.owner = owner;
    this.page = page;
  }

  static async arrive(world: World, context: BrowserContext): Promise<Visitor> {
    const visitor = new Visitor(world, await anOwner(world), await context.newPage());
    visitor.page.setDefaultTimeout(15_000);
    return visitor;
  }

  async start(
    platforms: readonly NetworkName[],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<Started> {
    const { profileId, key } = this.owner;
    const branding = { name: "Bakery", accentColor: "#b4531a" };
    const body = { platforms, returnUrl: RETURN_URL, state: "s 1", branding, ...more };
    const path = `/v1/profiles/${profileId}/connect/sessions`;
    const answer = await this.#world.relay.call("POST", path, { key, body });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.data as Started;
  }

  /** Starts a session and opens its page. */
  async open(
    platforms: readonly NetworkName[],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<Started> {
    const started = await this.start(platforms, more);
    await this.page.goto(started.connectUrl);
    return started;
  }

  /** What the platform sees of the profile. */
  async connections() {
    const { profileId, key } = this.owner;
    const path = `/v1/profiles/${profileId}/connections`;
    const answer = await this.#world.relay.call("GET", path, { key });
    return answer.body.data as readonly {
      readonly id: string;
      readonly platform: string;
      readonly status: string;
      readonly account: { readonly id: string; readonly username: string };
    }[];
  }

  /** Opens a network's row if it is closed. */
  async openRow(network: string): Promise<void> {
    const row = this.#row(network).locator("> details");
    if ((await row.getAttribute("open")) === null) await row.locator("summary").first().click();
  }

  #row(network: string) {
    const heading = this.page.getByRole("heading", { name: new RegExp(`^${network}(?::|$)`) });
    return this.page.locator(".row", { has: heading });
  }

  /** Goes from a network's row to the network, or signs in with what was typed there. */
  async connect(network: string): Promise<void> {
    const row = this.#row(network);
    if ((await row.locator("> details").count()) > 0) await this.openRow(network);
    await row.locator("form button").first().click();
  }

  press(name: string | RegExp): Promise<void> {
    return this.page.getByRole("button", { name }).click();
  }

  /** What the user decides on the network's own page. */
  decide(decision: "allow" | "deny"): Promise<void> {
    return this.page.locator(`button[name=decision][value=${decision}]`).click();
  }

  heading(): Promise<string> {
    return this.page.getByRole("heading", { level: 1 }).innerText();
  }

  text(): Promise<string> {
    return this.page.locator("main").innerText();
  }

  /** Back at the customer, with what the customer is told. */
  returned(): Record<string, string> {
    const url = new URL(this.page.url());
    if (url.pathname !== "/back") throw new Error(`not at the customer but at ${url.href}`);
    return Object.fromEntries(url.searchParams);
  }
}
