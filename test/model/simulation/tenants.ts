import { newUserRow } from "../../../src/shared/people/staff/user-store.ts";
import { boundedLinked } from "../../setup/bounded.ts";
import { creditWallet } from "../../../src/shared/ledger/ledger.ts";
import type { ProfileScope } from "../../../src/shared/callers/scope.ts";
import { notFound } from "../../../src/shared/runtime/errors.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import type { LinkedAccount } from "../../../src/shared/networks/contract/link.ts";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import type { Services } from "../../../src/shared/compose.ts";
import type { Endpoint } from "../../../src/shared/webhooks/endpoints/endpoint.ts";
import {
  BLUESKY_HOST,
  HIDDEN_HOST,
  KEYLESS_HOST,
  KEYS_HOST,
  RECEIVER_HOST,
} from "./network-model.ts";

type Link = readonly [NetworkName, host: string];

/** One profile with linked accounts, as requests for it are made. */
export interface Tenant {
  readonly name: string;
  readonly scope: ProfileScope;
  readonly links: readonly Link[];
  readonly endpointId: string;
}

function linkedAccount(name: string, [network, host]: Link): LinkedAccount {
  const id = network === "bluesky" ? `did:plc:${name}` : `${host}/${name}`;
  const credentials =
    network === "bluesky"
      ? {
          did: id,
          pds: `https://${host}`,
          service: `https://${host}`,
          accessJwt: "access",
          refreshJwt: "refresh",
          accessExpiresAt: "9000-01-01T00:00:00.000Z",
        }
      : {
          origin: `https://${host}`,
          accessToken: name,
          clientId: "client",
          clientSecret: "secret",
          software: host === KEYS_HOST ? "mastodon" : "another",
        };
  return {
    account: {
      id,
      username: name,
      displayName: name,
      avatarUrl: null,
      url: `https://${host}/@${name}`,
      kind: "person",
    },
    credentials,
    instanceUrl: null,
    scopes: [],
    limits: {},
    expiresAt: null,
  };
}

/** Links an account of that name, over whatever was linked. The same name is the same account. */
export async function linkAccount(
  services: Services,
  { platformId, applicationId, profileId }: Omit<Tenant["scope"], "requestId" | "ip" | "caller">,
  { name, link, id }: { readonly name: string; readonly link: Link; readonly id: string },
): Promise<string> {
  const [network] = link;
  const linked = boundedLinked(linkedAccount(name, link));
  const owner = { platformId, applicationId, profileId };
  const linking = { ...owner, id, network, linked };
  return (await services.connections.stores.connections.saveLinked(linking)).connection.id;
}

async function aTenant(
  services: Services,
  owner: { readonly platformId: string; readonly applicationId: string; readonly name: string },
  links: readonly Link[],
): Promise<Omit<Tenant, "endpointId">> {
  const now = services.clock.now();
  const at = now.toISOString();
  const { platformId, applicationId, name } = owner;
  const profileId = newId("profile", now);
  await services.tenants.stores.profiles.create(platformId, {
    id: profileId,
    applicationId,
    title: name,
    externalId: null,
    metadata: {},
    status: "active",
    createdAt: at,
    updatedAt: at,
  });
  const caller = { kind: "system", worker: "simulation" } as const;
  const scope = { requestId: "", ip: "", caller, platformId, applicationId, profileId };
  for (const link of links)
    await linkAccount(services, scope, { name, link, id: newId("connection", now) });
  return { name, scope, links };
}

/** Creates a platform with its owner. */
export async function createPlatform(services: Services, id: string, name: string): Promise<void> {
  const now = services.clock.now();
  const times = { createdAt: now.toISOString(), updatedAt: now.toISOString() };
  const platform = { id, name, status: "active", ...times } as const;
  const email = `${name}@example.com`;
  const owner = { id: newId("user", now), platformId: id, email, name: null, role: "owner" };
  // Safe: the sign-in parts of an owner are of no concern here.
  const row = newUserRow({ ...owner, status: "active", ...times } as never);
  await services.tenants.stores.platforms.createWithOwner(platform, [row]);
}

async function aPlatform(services: Services, name: string, tokens: number) {
  const now = services.clock.now();
  const at = now.toISOString();
  const platformId = newId("platform", now);
  await createPlatform(services, platformId, name);
  const applicationId = newId("application", now);
  await services.tenants.stores.applications.create(platformId, {
    id: applicationId,
    name,
    status: "active",
    createdAt: at,
    updatedAt: at,
  });
  const url = `https://${RECEIVER_HOST}/${name}`;
  const ids = { platformId, applicationId };
  const { id: endpointId } = await createEndpoint(services, ids, { url, status: "active" }, now);
  await creditTokens(services, platformId, "first credit", tokens);
  return { platformId, applicationId, endpointId };
}

/** Creates an endpoint that wants all events of an application. */
export async function createEndpoint(
  services: Services,
  owner: { readonly platformId: string; readonly applicationId: string },
  { url, status }: Pick<Endpoint, "url" | "status">,
  now: Date,
): Promise<Endpoint> {
  const at = now.toISOString();
  const endpoint = {
    id: newId("endpoint", now),
    ...owner,
    url,
    description: null,
    events: ["*"],
    status,
    disabledReason: null,
    secretHint: "",
    createdAt: at,
    updatedAt: at,
  } as const;
  const price = {
    operation: "webhooks.create",
    tokens: 0,
    applicationId: owner.applicationId,
    profileId: null,
    postId: null,
    network: null,
    actor: { kind: "system", id: "simulation" },
    requestId: endpoint.id,
  } as const;
  await services.webhooks.stores.endpoints.create(endpoint, `whsec_${"A".repeat(44)}`, price);
  return endpoint;
}

export async function creditTokens(
  services: Services,
  platformId: string,
  reference: string,
  tokens: number,
): Promise<void> {
  await creditWallet(services.ledger, platformId, {
    operationId: `credit|${reference}`,
    tokens,
    actor: { kind: "system", id: "simulation" },
    requestId: reference,
  });
}

/** The name of the profile that some runs erase. */
export const ERASABLE = "five";

/** @throws AppError as the rules of access do for a profile that is being erased, or is gone */
export async function requireActive(
  {
    tenants: {
      stores: { profiles },
    },
  }: Services,
  { platformId, profileId }: ProfileScope,
): Promise<void> {
  const profile = await profiles.find(platformId, profileId);
  if (profile?.status !== "active") throw notFound();
}

/** Two platforms. One profile has the networks that know a repeat; the others one that does not, or shows no list. */
export async function createTenants(
  services: Services,
  tokens: () => number,
): Promise<readonly Tenant[]> {
  const first = await aPlatform(services, "first", tokens());
  const second = await aPlatform(services, "second", tokens());
  const safe: readonly Link[] = [
    ["bluesky", BLUESKY_HOST],
    ["mastodon", KEYS_HOST],
  ];
  const keyless: readonly Link[] = [
    ["bluesky", BLUESKY_HOST],
    ["mastodon", KEYLESS_HOST],
  ];
  const hidden: readonly Link[] = [["mastodon", HIDDEN_HOST]];
  return [
    { ...(await aTenant(services, { ...first, name: "one" }, safe)), endpointId: first.endpointId },
    {
      ...(await aTenant(services, { ...first, name: "two" }, keyless)),
      endpointId: first.endpointId,
    },
    {
      ...(await aTenant(services, { ...second, name: "three" }, keyless)),
      endpointId: second.endpointId,
    },
    {
      ...(await aTenant(services, { ...second, name: "four" }, hidden)),
      endpointId: second.endpointId,
    },
    {
      ...(await aTenant(services, { ...second, name: ERASABLE }, safe)),
      endpointId: second.endpointId,
    },
  ];
}
