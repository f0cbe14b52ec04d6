import { emitEvent } from "./emit-event.ts";
import { type EventType, newEvent } from "../../src/shared/events/events.ts";
import { anApplication, dataOf, type TestApplication } from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import type { Receiver } from "./receiver.ts";

let count = 0;

/** An endpoint of an application, with the path at which its receiver listens. */
export interface TestEndpoint {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
  readonly application: TestApplication;
}

export async function anEndpoint(
  relay: Relay,
  receiver: Receiver,
  of?: TestApplication,
  body: Readonly<Record<string, unknown>> = {},
): Promise<TestEndpoint> {
  const application = of ?? (await anApplication(relay));
  count += 1;
  const path = `/receivers/${count}`;
  const call = { key: application.key, body: { url: receiver.url(path), ...body } };
  const { id, secret } = dataOf(await relay.call("POST", "/v1/webhooks", call));
  return { id, path, secret, application };
}

/** Something happened in the application; nobody was told yet. */
export async function happen(
  relay: Relay,
  application: TestApplication,
  type: EventType = "connection.linked",
  data: Readonly<Record<string, unknown>> = { note: "something happened" },
): Promise<void> {
  const applicationId = application.id;
  const nobody = { sequence: null, profileId: null, postId: null };
  const event = newEvent({ type, applicationId, ...nobody, data }, relay.clock.now());
  await emitEvent(relay.services, relay.tables.core, application.platform.id, event);
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read answers field by field and assert what they find
type Deliveries = any[];

export async function deliveriesOf(
  relay: Relay,
  { id, application }: TestEndpoint,
  query = "",
): Promise<Deliveries> {
  const { key } = application;
  return dataOf(
    await relay.call("GET", `/v1/webhooks/${id}/deliveries?limit=100${query}`, { key }),
  );
}

/** The endpoint as its list shows it. */
export async function readEndpoint(relay: Relay, { id, application }: TestEndpoint) {
  const { key } = application;
  const listed = dataOf(await relay.call("GET", "/v1/webhooks?limit=100", { key }));
  return listed.find((endpoint: { id: string }) => endpoint.id === id);
}
