import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { reseal, seal, sealingKey, unseal, type DataKeys } from "../../runtime/secrets.ts";
import { textOf, type Columns, type Row, type RowWrite } from "../../runtime/storage/row.ts";
import { LOST, untilWon } from "../../runtime/storage/retry-lost.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { Endpoint, EventFilter } from "./endpoint.ts";
import { endpointRow } from "./endpoint-row.ts";
import { secretHint } from "../deliveries/signature.ts";

const PREFIX = "H|";
/** The ids of an application's endpoints, in one row: what is created and deleted passes through it, one by one. */
const ROSTER_PREFIX = "HN|";
const ID_START = "H|0000000000000000|".length;
const ALL_MAX = 100_000;
/** The properties that hold sealed text. */
const SECRETS = ["secret", "previousSecret"] as const;

export const ENDPOINTS_MAX = 20;

const rowKey = (endpointId: string) =>
  `${PREFIX}${inverted(timeOfId("endpoint", endpointId))}|${endpointId}`;
const rosterKey = (applicationId: string) => ROSTER_PREFIX + applicationId;
// Safe: written by this store from a list of ids.
const idsOf = (roster: Row) => JSON.parse(textOf(roster, "ids")) as string[];
/** What the secrets of an endpoint are sealed to. */
const placeOf = (platformId: string, endpointId: string) => `${platformId}|${endpointId}`;

/** @throws DamagedRow */
function toEndpoint(platformId: string, row: Row): Endpoint {
  const { applicationId, url, description, events, status, ...rest } = endpointRow.decode(row);
  const { disabledReason, secretHint: hint, createdAt, updatedAt } = rest;
  return {
    id: row.rowKey.slice(ID_START),
    platformId,
    applicationId,
    url,
    description,
    events,
    status,
    disabledReason,
    secretHint: hint,
    createdAt,
    updatedAt,
  };
}

/** What may change of an endpoint. */
export interface EndpointChange {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly events?: readonly EventFilter[] | undefined;
  readonly status?: Endpoint["status"] | undefined;
  readonly disabledReason?: string | null | undefined;
}

/** An endpoint with what its deliveries are signed with, the newest first. */
export interface OpenedEndpoint {
  readonly endpoint: Endpoint;
  /** Whether its health has to be asked before something new is sent. */
  readonly isCircuitOpen: boolean;
  readonly secrets: readonly string[];
}

function toProperties(change: EndpointChange): Columns {
  const { url, description, events, status, disabledReason } = change;
  return endpointRow.encodePart({
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(events === undefined ? {} : { events }),
    ...(status === undefined ? {} : { status }),
    ...(disabledReason === undefined ? {} : { disabledReason }),
  });
}

/** The webhook endpoints of a platform (table `tenants`): another platform's id is simply not found. */
export class EndpointStore {
  readonly #tenants: Table;
  readonly #dataKeys: DataKeys;

  constructor(tenants: Table, dataKeys: DataKeys) {
    this.#tenants = tenants;
    this.#dataKeys = dataKeys;
  }

  /**
   * False when the application has as many as it may have, however many are being created at once. Repeating it with
   * the same endpoint is harmless.
   */
  async create(endpoint: Endpoint, secret: string): Promise<boolean> {
    const { platformId, applicationId, id } = endpoint;
    return untilWon(async () => {
      const roster = await this.#roster(platformId, applicationId);
      if (roster.ids.includes(id)) return true;
      if (roster.ids.length >= ENDPOINTS_MAX) return false;
      const result = await this.#tenants.transact(platformId, [
        roster.write([...roster.ids, id]),
        { kind: "create", row: this.#toRow(endpoint, secret) },
      ]);
      return result.kind === "applied" ? true : LOST;
    });
  }

  /** Whether it was there to be deleted. */
  async delete({ platformId, applicationId, id }: Endpoint): Promise<boolean> {
    return untilWon(async (attempts) => {
      const roster = await this.#roster(platformId, applicationId);
      // A repeat of ours whose first answer was lost looks like this too.
      if (!roster.ids.includes(id)) return attempts > 1;
      const result = await this.#tenants.transact(platformId, [
        roster.write(roster.ids.filter((other) => other !== id)),
        { kind: "delete", rowKey: rowKey(id) },
      ]);
      return result.kind === "applied" ? true : LOST;
    });
  }

  async #roster(platformId: string, applicationId: string) {
    const key = rosterKey(applicationId);
    const stored = await this.#tenants.find(platformId, key);
    const ids = stored === undefined ? [] : idsOf(stored.row);
    const write = (next: readonly string[]): RowWrite => {
      const row = { rowKey: key, ids: JSON.stringify(next) };
      return stored === undefined
        ? { kind: "create", row }
        : { kind: "replace", row, etag: stored.etag };
    };
    return { ids, write };
  }

  #toRow(endpoint: Endpoint, secret: string): Row {
    const { id, platformId, applicationId, createdAt, updatedAt } = endpoint;
    return {
      rowKey: rowKey(id),
      applicationId,
      ...toProperties(endpoint),
      secret: seal(secret, placeOf(platformId, id), this.#dataKeys),
      secretHint: secretHint(secret),
      previousSecret: "",
      previousSecretUntil: "",
      createdAt,
      updatedAt,
    };
  }

  async find(platformId: string, endpointId: string): Promise<Endpoint | undefined> {
    if (!isId("endpoint", endpointId)) return undefined;
    const stored = await this.#tenants.find(platformId, rowKey(endpointId));
    return stored === undefined ? undefined : toEndpoint(platformId, stored.row);
  }

  /** With its secrets: the present one, and the one before for as long as it still signs. */
  async open(
    platformId: string,
    endpointId: string,
    now: Date,
  ): Promise<OpenedEndpoint | undefined> {
    const stored = await this.#tenants.find(platformId, rowKey(endpointId));
    if (stored === undefined) return undefined;
    const { row } = stored;
    const signsStill = textOf(row, "previousSecretUntil") > now.toISOString();
    const sealed = [textOf(row, "secret"), ...(signsStill ? [textOf(row, "previousSecret")] : [])];
    const place = placeOf(platformId, endpointId);
    const secrets = sealed.map((text) => unseal(text, place, this.#dataKeys));
    return {
      endpoint: toEndpoint(platformId, row),
      isCircuitOpen: row["isCircuitOpen"] === true,
      secrets: secrets.filter((secret) => secret !== undefined),
    };
  }

  /** Undefined when it is gone. */
  async update(
    platformId: string,
    endpointId: string,
    change: EndpointChange,
    at: string,
  ): Promise<Endpoint | undefined> {
    const row = await this.#tenants.update(platformId, rowKey(endpointId), () => ({
      ...toProperties(change),
      updatedAt: at,
    }));
    return row === undefined ? undefined : toEndpoint(platformId, row);
  }

  /** False when it is gone, or disabled already: the first reason stays. */
  async disable(
    platformId: string,
    endpointId: string,
    disabledReason: string,
    at: string,
  ): Promise<boolean> {
    let isOurs = false;
    await this.#tenants.update(platformId, rowKey(endpointId), (row) => {
      isOurs = textOf(row, "status") === "active";
      return isOurs ? { status: "disabled", disabledReason, updatedAt: at } : undefined;
    });
    return isOurs;
  }

  /** Beside what every delivery reads anyway, so that none has to ask for it. Whether this call turned it. */
  async turnCircuit(
    platformId: string,
    endpointId: string,
    isCircuitOpen: boolean,
  ): Promise<boolean> {
    let isOurs = false;
    await this.#tenants.update(platformId, rowKey(endpointId), (row) => {
      isOurs = (row["isCircuitOpen"] === true) !== isCircuitOpen;
      return isOurs ? { isCircuitOpen } : undefined;
    });
    return isOurs;
  }

  /** The one before signs along until then; an older one no more. */
  async rotateSecret(
    platformId: string,
    endpointId: string,
    secret: string,
    times: { readonly at: string; readonly previousUntil: string },
  ): Promise<Endpoint | undefined> {
    const sealed = seal(secret, placeOf(platformId, endpointId), this.#dataKeys);
    const row = await this.#tenants.update(platformId, rowKey(endpointId), (before) => ({
      secret: sealed,
      secretHint: secretHint(secret),
      previousSecret: textOf(before, "secret"),
      previousSecretUntil: times.previousUntil,
      updatedAt: times.at,
    }));
    return row === undefined ? undefined : toEndpoint(platformId, row);
  }

  /** Newest first, of one application or of all; `after` is where the last listing stopped. */
  list(
    platformId: string,
    applicationId: string | null,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<Endpoint>> {
    return scan(this.#tenants, {
      partitionKey: platformId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick: ({ row }) =>
        applicationId === null || row["applicationId"] === applicationId
          ? toEndpoint(platformId, row)
          : undefined,
    });
  }

  async listAll(platformId: string): Promise<Endpoint[]> {
    const rows = await this.#tenants.list({
      partitionKey: platformId,
      from: PREFIX,
      before: afterPrefix(PREFIX),
      limit: ALL_MAX,
    });
    return rows.map(({ row }) => toEndpoint(platformId, row));
  }

  /** Seals the secrets of all endpoints with the first data key. Answers the key of each secret after that. */
  async reseal(platformId: string): Promise<string[]> {
    const rows = await this.#tenants.list({
      partitionKey: platformId,
      from: PREFIX,
      before: afterPrefix(PREFIX),
      limit: ALL_MAX,
    });
    const keys: string[] = [];
    for (const { row } of rows) {
      const change = (before: Row) => this.#resealed(platformId, before);
      const after =
        change(row) === undefined
          ? row
          : await this.#tenants.update(platformId, row.rowKey, change);
      for (const name of SECRETS) {
        const sealed = after === undefined ? "" : textOf(after, name);
        if (sealed !== "") keys.push(sealingKey(sealed));
      }
    }
    return keys;
  }

  #resealed(platformId: string, row: Row): Record<string, string> | undefined {
    const place = placeOf(platformId, row.rowKey.slice(ID_START));
    const again = SECRETS.flatMap((name) => {
      const sealed = reseal(textOf(row, name), place, this.#dataKeys);
      return sealed === undefined ? [] : [[name, sealed] as const];
    });
    return again.length === 0 ? undefined : Object.fromEntries(again);
  }

  /** By the rosters, of which every application has one at most. */
  async count(platformId: string, applicationId: string | null): Promise<number> {
    if (applicationId !== null) return (await this.#roster(platformId, applicationId)).ids.length;
    const rosters = await this.#tenants.list({
      partitionKey: platformId,
      from: ROSTER_PREFIX,
      before: afterPrefix(ROSTER_PREFIX),
      limit: ALL_MAX,
    });
    return rosters.reduce((count, { row }) => count + idsOf(row).length, 0);
  }
}
