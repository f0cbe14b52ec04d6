import { parseConfig } from "../../../src/shared/config/config.ts";
import { createNetworkTools } from "../../../src/shared/connections/network-tools.ts";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import type { LinkedAccount } from "../../../src/shared/networks/contract/link.ts";
import { createOutbound } from "../../../src/shared/runtime/outbound.ts";
import { aPlatform, aProfile, anApplication, type TestApplication } from "../../setup/factories.ts";
import { publisherOf, type Publisher } from "../../setup/publisher.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { allow, signIn } from "../../setup/sign-in.ts";
import type { StandIn } from "./stand-in.ts";
import { Wire } from "./wire.ts";
import { saveLinked } from "../../setup/stored.ts";

const TOKENS = 1_000_000;
/** No token that is younger has to be renewed: a leg's calls are the same each time. */
const FRESH_MS = 20 * 60_000;

/** One network, the relay before it, and everything that is said between them. */
export interface World {
  readonly network: NetworkName;
  readonly relay: Relay;
  readonly wire: Wire;
  readonly standIn: StandIn;
  readonly application: TestApplication;
  /** What to post as; linked again when the account is not linked well any more. */
  publisher(form?: Readonly<Record<string, string>>): Promise<Publisher>;
  /** The one of the last call of `publisher`, however its account is. */
  lastPublisher(form?: Readonly<Record<string, string>>): Publisher;
  /** What was linked may have ended at the network: the next one is linked again. */
  forgetPublishers(): void;
  stop(): Promise<void>;
}

async function linkTo(
  relay: Relay,
  network: NetworkName,
  form: Readonly<Record<string, string>>,
): Promise<LinkedAccount> {
  const { services } = relay;
  const outcome = await signIn(network, form, {
    tools: createNetworkTools(services.connections, network),
    decide: (page) => allow(services.connections.outbound.browserUrl(page)),
  });
  if (outcome.kind !== "linked") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  return outcome.linked;
}

async function aLinkedPublisher(
  relay: Relay,
  application: TestApplication,
  network: NetworkName,
  linked: LinkedAccount,
): Promise<Publisher> {
  const { id: profileId } = await aProfile(relay, application);
  const publisher = publisherOf(relay, application, profileId);
  await saveLinked(relay.services, publisher.owner, network, linked);
  return publisher;
}

/** Several profiles of an application that all publish to the same real account. */
export async function publishersOfOneAccount(
  { relay, application, network }: World,
  form: Readonly<Record<string, string>>,
  count: number,
): Promise<readonly Publisher[]> {
  const linked = await linkTo(relay, network, form);
  const made: Publisher[] = [];
  for (let index = 0; index < count; index += 1)
    made.push(await aLinkedPublisher(relay, application, network, linked));
  return made;
}

export interface WorldOptions {
  readonly network: NetworkName;
  readonly settings: Readonly<Record<string, string>>;
  /** Asked once the relay's clock runs. */
  readonly standIn: StandIn;
  readonly onClock?: (now: () => number) => void;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const { network, settings, standIn } = options;
  const config = parseConfig({
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    ...settings,
  });
  const now = (): number => relay.clock.now().getTime();
  const wire = new Wire(createOutbound(config), standIn, now);
  const relay = await startRelay({
    settings,
    outbound: wire,
  });
  options.onClock?.(now);
  const application = await anApplication(relay, await aPlatform(relay, { tokens: TOKENS }));
  const publishers = new Map<string, { readonly publisher: Publisher; readonly until: number }>();
  return {
    network,
    relay,
    wire,
    standIn,
    application,
    async publisher(form = {}) {
      const key = JSON.stringify(form);
      const known = publishers.get(key);
      const connections = relay.services.connections.stores.connections;
      const connection = known && (await connections.find({ ...known.publisher.owner, network }));
      if (known !== undefined && connection?.status === "active" && now() < known.until)
        return known.publisher;
      const linked = await linkTo(relay, network, form);
      const made = await aLinkedPublisher(relay, application, network, linked);
      publishers.set(key, { publisher: made, until: now() + FRESH_MS });
      return made;
    },
    lastPublisher(form = {}) {
      const known = publishers.get(JSON.stringify(form));
      if (known === undefined) throw new Error("nobody was linked yet");
      return known.publisher;
    },
    forgetPublishers: () => publishers.clear(),
    stop: () => relay.stop(),
  };
}
