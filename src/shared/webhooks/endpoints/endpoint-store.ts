import { undoIfRefused, withoutChange } from "../../callers/access-check.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { reseal, seal, sealingKey, unseal, type DataKeys } from "../../runtime/secrets.ts";
import type { Columns, Row, RowWrite, StoredRow } from "../../runtime/storage/row.ts";
import { unlessBroken, unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { LOST, untilWon } from "../../runtime/until-won.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { Endpoint, EventFilter } from "./endpoint.ts";
import { secretHint } from "../deliveries/signature.ts";
import {
  json,
  oneOf,
  rowCodec,
  text,
  textOrNull,
  type Reader,
} from "../../runtime/storage/codec.ts";

/** A webhook endpoint with its sealed secrets; its id is in the row key. */
export const endpointRow = rowCodec("webhook endpoint", {
  applicationId: text(),
  url: text(),
  description: textOrNull(),
  events: json<readonly EventFilter[]>(),
  status: oneOf(["active", "disabled"]),
  disabledReason: textOrNull(),
  secret: text(),
  secretHint: text(),
  previousSecret: text(),
  previousSecretUntil: text(),
  createdAt: text(),
  updatedAt: text(),
});

/** The ids of an application's endpoints. */
export const endpointIndexRow = rowCodec("index of webhook endpoints", {
  ids: json<readonly string[]>(),
});

const PREFIX = "H|";
/** The index of an application's endpoints, in one row: every creation and removal writes it. */
const INDEX_PREFIX = "HN|";
const ID_START = "H|0000000000000000|".length;
const ALL_MAX = 100_000;

export const ENDPOINTS_MAX = 20;

const rowKey = (endpointId: string) =>
  `${PREFIX}${inverted(timeOfId("endpoint", endpointId))}|${endpointId}`;
const indexKey = (applicationId: string) => INDEX_PREFIX + applicationId;
/** Returns the text that an endpoint's secrets are sealed to. */
const bindingOf = (platformId: string, endpointId: string) => `${platformId}|${endpointId}`;

function toEndpoint(platformId: string, row: Row, reader?: Reader): Endpoint {
  const { applicationId, url, description, events, status, ...rest } = endpointRow.decode(
    row,
    reader,
  );
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

/** The webhook endpoints of a platform (table `core`). The id of another platform's endpoint is not found. */
export class EndpointStore {
  readonly #core: Table;
  readonly #dataKeys: DataKeys;

  constructor(core: Table, dataKeys: DataKeys) {
    this.#core = core;
    this.#dataKeys = dataKeys;
  }

  /**
   * Creates an endpoint. Returns false when the application has its maximum, however many are created at once. Safe to
   * repeat with the same endpoint.
   */
  async create(endpoint: Endpoint, secret: string): Promise<boolean> {
    undoIfRefused(() => this.delete(endpoint));
    return this.#insert(endpoint, this.#toRow(endpoint, secret), ENDPOINTS_MAX);
  }

  /** Inserts a row and its entry of the index. Returns false when the index has so many. */
  #insert(
    { platformId, applicationId, id }: Pick<Endpoint, "platformId" | "applicationId" | "id">,
    row: Row,
    max: number,
  ): Promise<boolean> {
    return untilWon(async () => {
      const index = await this.#index(platformId, applicationId);
      if (index.ids.includes(id)) return true;
      if (index.ids.length >= max) return false;
      const result = await this.#core.transact(platformId, [
        index.write([...index.ids, id]),
        { kind: "create", row },
      ]);
      return result.kind === "applied" ? true : LOST;
    });
  }

  /** Returns whether it was there to be deleted. */
  async delete(endpoint: Endpoint): Promise<boolean> {
    const { platformId, applicationId, id } = endpoint;
    let removed: Row | undefined;
    undoIfRefused(async () => {
      // Its place in the index may have been taken, and what was there before is not refused for that.
      if (removed !== undefined) await this.#insert(endpoint, removed, Infinity);
    });
    return untilWon(async (attempts) => {
      const [index, stored] = await Promise.all([
        this.#index(platformId, applicationId),
        this.#core.find(platformId, rowKey(id)),
      ]);
      // A repeat of ours whose first answer was lost looks like this too.
      if (!index.ids.includes(id)) return attempts > 1;
      const result = await this.#core.transact(platformId, [
        index.write(index.ids.filter((other) => other !== id)),
        { kind: "delete", rowKey: rowKey(id) },
      ]);
      if (result.kind !== "refused") removed = stored?.row;
      return result.kind === "applied" ? true : LOST;
    });
  }

  async #index(platformId: string, applicationId: string) {
    const key = indexKey(applicationId);
    const stored = await this.#core.find(platformId, key);
    const ids = stored === undefined ? [] : endpointIndexRow.decode(stored.row).ids;
    const write = (next: readonly string[]): RowWrite => {
      const row = { ...endpointIndexRow.encode({ ids: next }), rowKey: key };
      return stored === undefined
        ? { kind: "create", row }
        : { kind: "merge", row, etag: stored.etag };
    };
    return { ids, write };
  }

  #toRow(endpoint: Endpoint, secret: string): Row {
    const { id, platformId } = endpoint;
    const columns = endpointRow.encode({
      ...endpoint,
      secret: seal(secret, bindingOf(platformId, id), this.#dataKeys),
      secretHint: secretHint(secret),
      previousSecret: "",
      previousSecretUntil: "",
    });
    return { ...columns, rowKey: rowKey(id) };
  }

  async find(platformId: string, endpointId: string): Promise<Endpoint | undefined> {
    if (!isId("endpoint", endpointId)) return undefined;
    const stored = await this.#core.find(platformId, rowKey(endpointId));
    return stored === undefined ? undefined : toEndpoint(platformId, stored.row);
  }

  /** Returns the endpoint with its secrets: the present one, and the previous one while it still signs. */
  async open(
    platformId: string,
    endpointId: string,
    now: Date,
  ): Promise<OpenedEndpoint | undefined> {
    const stored = await this.#core.find(platformId, rowKey(endpointId));
    if (stored === undefined) return undefined;
    const endpoint = endpointRow.decode(stored.row);
    const signsStill = endpoint.previousSecretUntil > now.toISOString();
    const sealed = [endpoint.secret, ...(signsStill ? [endpoint.previousSecret] : [])];
    const binding = bindingOf(platformId, endpointId);
    const secrets = sealed.map((one) => unseal(one, binding, this.#dataKeys));
    return {
      endpoint: toEndpoint(platformId, stored.row),
      secrets: secrets.filter((secret) => secret !== undefined),
    };
  }

  /** Changes the named fields; undefined when the endpoint is gone. */
  async update(
    platformId: string,
    endpointId: string,
    change: EndpointChange,
    at: string,
  ): Promise<Endpoint | undefined> {
    const row = await this.#change(platformId, endpointId, () => ({
      ...toProperties(change),
      updatedAt: at,
    }));
    return row === undefined ? undefined : toEndpoint(platformId, row);
  }

  /** Changes an endpoint for a request. A refused one puts back what it changed, if that was not changed since. */
  async #change(
    platformId: string,
    endpointId: string,
    change: (row: Row) => Columns,
  ): Promise<Row | undefined> {
    let changed: { readonly before: Row; readonly columns: Columns } | undefined;
    undoIfRefused(() =>
      this.#core.update(platformId, rowKey(endpointId), (present) => {
        if (changed === undefined) return undefined;
        const { before, columns } = changed;
        return withoutChange(present, { before, after: { ...before, ...columns } });
      }),
    );
    return this.#core.update(platformId, rowKey(endpointId), (before) => {
      changed = { before, columns: change(before) };
      return changed.columns;
    });
  }

  /** Disables the endpoint. Returns false when it is gone or disabled already: the first reason stays. */
  async disable(
    platformId: string,
    endpointId: string,
    disabledReason: string,
    at: string,
  ): Promise<boolean> {
    let isOurs = false;
    await this.#core.update(platformId, rowKey(endpointId), (row) => {
      isOurs = endpointRow.decode(row).status === "active";
      const change = { status: "disabled", disabledReason, updatedAt: at } as const;
      return isOurs ? endpointRow.encodePart(change) : undefined;
    });
    return isOurs;
  }

  /** Replaces the secret. The previous one also signs until the given time; an older one no longer does. */
  async rotateSecret(
    platformId: string,
    endpointId: string,
    secret: string,
    times: { readonly at: string; readonly previousUntil: string },
  ): Promise<Endpoint | undefined> {
    const sealed = seal(secret, bindingOf(platformId, endpointId), this.#dataKeys);
    const row = await this.#change(platformId, endpointId, (before) =>
      endpointRow.encodePart({
        secret: sealed,
        secretHint: secretHint(secret),
        previousSecret: endpointRow.decode(before).secret,
        previousSecretUntil: times.previousUntil,
        updatedAt: times.at,
      }),
    );
    return row === undefined ? undefined : toEndpoint(platformId, row);
  }

  /** Lists endpoints of one application or of all, newest first; `after` is where the last listing stopped. */
  list(
    platformId: string,
    applicationId: string | null,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<Endpoint>> {
    return scan(this.#core, {
      partitionKey: platformId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick({ row }) {
        const endpoint = toEndpoint(platformId, row, "people");
        const fits = applicationId === null || endpoint.applicationId === applicationId;
        return fits ? endpoint : undefined;
      },
    });
  }

  /** Lists the platform's endpoints, for work. Damaged rows are left out. @throws NewerRow */
  async listAll(platformId: string): Promise<Endpoint[]> {
    const rows = await this.#rows(platformId, PREFIX);
    const read = rows.map(({ row }) => unlessBroken(() => toEndpoint(platformId, row)));
    return read.filter((endpoint) => endpoint !== undefined);
  }

  #rows(platformId: string, prefix: string): Promise<readonly StoredRow[]> {
    return this.#core.list({
      partitionKey: platformId,
      from: prefix,
      before: afterPrefix(prefix),
      limit: ALL_MAX,
    });
  }

  /** Seals the secrets of all endpoints with the first data key. Returns the key of each secret after that. */
  async reseal(platformId: string): Promise<string[]> {
    const keys: string[] = [];
    for (const { row } of await this.#rows(platformId, PREFIX)) {
      const change = (before: Row) => this.#resealed(platformId, before);
      const isSealed = unlessDamaged(() => change(row) === undefined);
      if (isSealed === undefined) continue;
      const after = isSealed ? row : await this.#core.update(platformId, row.rowKey, change);
      if (after === undefined) continue;
      const { secret, previousSecret } = endpointRow.decode(after);
      keys.push(...[secret, previousSecret].filter((sealed) => sealed !== "").map(sealingKey));
    }
    return keys;
  }

  /** Returns the columns to write, undefined when both secrets are sealed with the first key. @throws DamagedRow */
  #resealed(platformId: string, row: Row): Columns | undefined {
    const binding = bindingOf(platformId, row.rowKey.slice(ID_START));
    const before = endpointRow.decode(row);
    const secret = reseal(before.secret, binding, this.#dataKeys);
    const previousSecret = reseal(before.previousSecret, binding, this.#dataKeys);
    if (secret === undefined && previousSecret === undefined) return undefined;
    return endpointRow.encodePart({
      ...(secret === undefined ? {} : { secret }),
      ...(previousSecret === undefined ? {} : { previousSecret }),
    });
  }

  /** Counts by the indexes, of which every application has one at most. */
  async count(platformId: string, applicationId: string | null): Promise<number> {
    if (applicationId !== null) return (await this.#index(platformId, applicationId)).ids.length;
    const indexes = await this.#rows(platformId, INDEX_PREFIX);
    return indexes.reduce((count, { row }) => count + endpointIndexRow.decode(row).ids.length, 0);
  }
}
