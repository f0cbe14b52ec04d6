import {
  accessOperation,
  type Commit,
  countsKey,
  countWrite,
  toCounts,
} from "../../partition/partition.ts";
import { type Debit, debitWrites } from "../../ledger/ledger.ts";
import { reseal, seal, sealingKey, unseal, type DataKeys } from "../../runtime/secrets.ts";
import type { Columns, Row, RowWrite, StoredRow } from "../../runtime/storage/row.ts";
import { unlessBroken, unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { type ListPosition, newestFirst } from "../../runtime/storage/newest-first.ts";
import type { ScannedPage } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { Endpoint, EventFilter } from "./endpoint.ts";
import { secretHint } from "./signature.ts";
import {
  json,
  namesForm,
  oneOf,
  rowCodec,
  text,
  textOrNull,
  type Reader,
} from "../../runtime/storage/codec.ts";

/** A webhook endpoint with its sealed secrets. The row key has its id. */
export const endpointRow = rowCodec("webhook endpoint", {
  applicationId: text(),
  url: text(),
  description: textOrNull(),
  events: json(namesForm<EventFilter>()),
  status: oneOf(["active", "disabled"]),
  disabledReason: textOrNull(),
  secret: text(),
  secretHint: text(),
  previousSecret: text(),
  previousSecretUntil: text(),
  createdAt: text(),
  updatedAt: text(),
});

const ALL_MAX = 100_000;

export const ENDPOINTS_MAX = 20;

const endpoints = newestFirst("endpoint", "H|", toEndpoint, (platformId, row) =>
  toEndpoint(platformId, row, "people"),
);
const rowKey = endpoints.key;
const endpointBinding = (platformId: string, endpointId: string) => `${platformId}|${endpointId}`;

function toEndpoint(platformId: string, row: Row, reader?: Reader): Endpoint {
  const decoded = endpointRow.decode(row, reader);
  const { secret: _, previousSecret: _before, previousSecretUntil: _until, ...rest } = decoded;
  return { id: endpoints.idOf(row), platformId, ...rest };
}

export interface EndpointChange {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly events?: readonly EventFilter[] | undefined;
  readonly status?: Endpoint["status"] | undefined;
  readonly disabledReason?: string | null | undefined;
}

/** An endpoint with the secrets that sign its deliveries, the newest first. */
export interface OpenedEndpoint {
  readonly endpoint: Endpoint;
  readonly secrets: readonly string[];
}

/**
 * Stores webhook endpoints in their platform's partition. The change of a request is an operation of the partition.
 * What is found in the background only writes the row. The id of another platform's endpoint is not found.
 */
export class EndpointStore {
  readonly #core: Table;
  readonly #commit: Commit;
  readonly #dataKeys: DataKeys;

  constructor(core: Table, commit: Commit, dataKeys: DataKeys) {
    this.#core = core;
    this.#commit = commit;
    this.#dataKeys = dataKeys;
  }

  /**
   * Stores a new endpoint and charges for it. Returns false, and does neither, when the application has its maximum.
   * @throws AppError 402
   */
  create(endpoint: Endpoint, secret: string, price: Debit): Promise<boolean> {
    const { platformId, applicationId, id } = endpoint;
    const [key, counts] = [rowKey(id), countsKey(applicationId)];
    const created = this.#toRow(endpoint, secret);
    return this.#commit<boolean>(
      platformId,
      accessOperation([key, counts], (view) => {
        if (view.row(key) !== undefined) return { answer: true };
        const debit = debitWrites(price, view);
        const counted = view.row(counts);
        if (toCounts(counted).webhooks >= ENDPOINTS_MAX) return { answer: false };
        const writes = [
          { kind: "create", row: created } as const,
          countWrite(applicationId, counted, "webhooks", 1),
          ...debit,
        ];
        return { answer: true, writes, raises: false };
      }),
    );
  }

  /** Deletes the endpoint. Returns whether it existed. */
  delete({ platformId, applicationId, id }: Endpoint): Promise<boolean> {
    const [key, counts] = [rowKey(id), countsKey(applicationId)];
    return this.#commit<boolean>(
      platformId,
      accessOperation([key, counts], ({ row }, tried) => {
        // After a lost answer, an earlier try looks like a removal by another request.
        if (row(key) === undefined) return tried ?? { answer: false };
        const writes = [
          { kind: "delete", rowKey: key } as const,
          countWrite(applicationId, row(counts), "webhooks", -1),
        ];
        return { answer: true, writes, raises: false };
      }),
    );
  }

  #toRow(endpoint: Endpoint, secret: string): Row {
    const { id, platformId } = endpoint;
    const columns = endpointRow.encode({
      ...endpoint,
      secret: seal(secret, endpointBinding(platformId, id), this.#dataKeys),
      secretHint: secretHint(secret),
      previousSecret: "",
      previousSecretUntil: "",
    });
    return { ...columns, rowKey: rowKey(id) };
  }

  find(platformId: string, endpointId: string): Promise<Endpoint | undefined> {
    return endpoints.find(this.#core, platformId, endpointId);
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
    const binding = endpointBinding(platformId, endpointId);
    const secrets = sealed.map((one) => unseal(one, binding, this.#dataKeys));
    return {
      endpoint: toEndpoint(platformId, stored.row),
      secrets: secrets.filter((secret) => secret !== undefined),
    };
  }

  /** Changes the named fields. Undefined when the endpoint is gone. */
  update(
    platformId: string,
    endpointId: string,
    change: EndpointChange,
    at: string,
  ): Promise<Endpoint | undefined> {
    const columns = endpointRow.encodePart({ ...change, updatedAt: at });
    return this.#change(platformId, endpointId, () => columns);
  }

  /** Merges what `change` returns, if anything. Undefined when the endpoint is gone. */
  #change(
    platformId: string,
    endpointId: string,
    change: (row: Row) => Columns | undefined,
  ): Promise<Endpoint | undefined> {
    const key = rowKey(endpointId);
    return this.#commit<Endpoint | undefined>(
      platformId,
      accessOperation([key], ({ row }) => {
        const stored = row(key);
        if (stored === undefined) return { answer: undefined };
        const columns = change(stored.row);
        const answer = toEndpoint(platformId, { ...stored.row, ...columns });
        if (columns === undefined) return { answer };
        const merged = { ...columns, rowKey: key };
        return {
          answer,
          writes: [{ kind: "merge", row: merged, etag: stored.etag }],
          raises: false,
        };
      }),
    );
  }

  /**
   * Finds an active endpoint that is to be disabled. Returns it with the write that does so. Undefined when it is gone
   * or already disabled, because the first reason stays.
   */
  async findToDisable(
    platformId: string,
    endpointId: string,
    { disabledReason, at }: { readonly disabledReason: string; readonly at: string },
  ): Promise<{ readonly endpoint: Endpoint; readonly write: RowWrite } | undefined> {
    const key = rowKey(endpointId);
    const stored = await this.#core.find(platformId, key);
    if (stored === undefined || endpointRow.decode(stored.row).status !== "active")
      return undefined;
    const change = { status: "disabled", disabledReason, updatedAt: at } as const;
    const row = { ...endpointRow.encodePart(change), rowKey: key };
    const write = { kind: "merge", row, etag: stored.etag } as const;
    return { endpoint: toEndpoint(platformId, stored.row), write };
  }

  /** Replaces the secret. The previous one also signs until the given time; an older one no longer does. */
  rotateSecret(
    platformId: string,
    endpointId: string,
    secret: string,
    times: { readonly at: string; readonly previousUntil: string },
  ): Promise<Endpoint | undefined> {
    const sealed = seal(secret, endpointBinding(platformId, endpointId), this.#dataKeys);
    return this.#change(platformId, endpointId, (row) => {
      const before = endpointRow.decode(row);
      // An earlier try was applied, because the secret was sealed for this call.
      if (before.secret === sealed) return undefined;
      return endpointRow.encodePart({
        secret: sealed,
        secretHint: secretHint(secret),
        previousSecret: before.secret,
        previousSecretUntil: times.previousUntil,
        updatedAt: times.at,
      });
    });
  }

  /** Lists endpoints of one application or of all, newest first. `after` is where the last listing stopped. */
  list(
    platformId: string,
    applicationId: string | null,
    position: ListPosition,
  ): Promise<ScannedPage<Endpoint>> {
    const fits = (one: Endpoint) => applicationId === null || one.applicationId === applicationId;
    return endpoints.list(this.#core, platformId, position, fits);
  }

  /** Lists the platform's endpoints for background work, without damaged rows. @throws NewerRow */
  async listAll(platformId: string): Promise<Endpoint[]> {
    const rows = await this.#rows(platformId);
    const read = rows.map(({ row }) => unlessBroken(() => toEndpoint(platformId, row)));
    return read.filter((endpoint) => endpoint !== undefined);
  }

  #rows(platformId: string): Promise<readonly StoredRow[]> {
    return this.#core.list({ partitionKey: platformId, ...endpoints.range, limit: ALL_MAX });
  }

  /** Seals the secrets of all endpoints with the first data key. Returns the key of each secret afterwards. */
  async reseal(platformId: string): Promise<string[]> {
    const keys: string[] = [];
    for (const { row } of await this.#rows(platformId)) {
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

  /** Returns the columns to write, or undefined when both secrets have the first key. @throws DamagedRow */
  #resealed(platformId: string, row: Row): Columns | undefined {
    const binding = endpointBinding(platformId, endpoints.idOf(row));
    const before = endpointRow.decode(row);
    const secret = reseal(before.secret, binding, this.#dataKeys);
    const previousSecret = reseal(before.previousSecret, binding, this.#dataKeys);
    if (secret === undefined && previousSecret === undefined) return undefined;
    return endpointRow.encodePart({ secret, previousSecret });
  }
}
