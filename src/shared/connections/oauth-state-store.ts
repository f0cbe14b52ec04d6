import type { BoundedValue } from "../networks/contract/bounded.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import * as z from "zod";
import type { NetworkName } from "../networks/networks.ts";
import { seal, sha256Hex, unseal, type DataKeys } from "../runtime/secrets.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { fieldsForm, longText, oneOf, rowCodec, text } from "../runtime/storage/codec.ts";
import type { Table } from "../runtime/storage/table.ts";
import { NETWORK_NAMES } from "../networks/names.ts";

const ROW_KEY = "S";

const secretsShape = shape(() =>
  z.object({
    codeVerifier: z.string(),
    /** Token of the session. It leads the callback back to the session's page. */
    token: z.string(),
    flow: fieldsForm(),
    /** Origin of the authorization page. The answer must come from the same origin. */
    server: z.string().optional(),
    /** The server in the callback's path, for networks where each server has a callback of its own. */
    callbackServer: z.string().optional(),
    /** Set when an authorization covers several accounts, of which the end user must choose one. */
    candidates: z
      .array(
        z.object({
          id: z.string(),
          label: z.string(),
          hint: z.string(),
          isBarred: z.boolean().optional(),
        }),
      )
      .optional(),
    /** Whether more accounts exist than these. */
    isCut: z.boolean().optional(),
  }),
);

/** An authorization in progress. The partition is the hash of its state. */
export const oauthStateRow = rowCodec("OAuth state", {
  sessionId: text(),
  network: oneOf(NETWORK_NAMES),
  cookieHash: text(),
  expiresAt: text(),
  secrets: longText(),
});

/** An authorization that has not come back from the network's page, or whose account is not chosen yet. */
export interface OAuthAttempt {
  readonly sessionId: string;
  readonly network: NetworkName;
  /** Hash of the cookie of the browser that started it. */
  readonly cookieHash: string;
  readonly expiresAt: string;
  readonly secrets: ShapeOf<typeof secretsShape> & { readonly flow: BoundedValue<NetworkData> };
}

export interface FoundAttempt {
  readonly attempt: OAuthAttempt;
  /** The version that `consume` removes. */
  readonly etag: string;
}

const stateBinding = (stateHash: string) => `oauthstates|${stateHash}|secrets`;

/** Stores authorizations in progress by the hash of their `state`, or of the choice's name. Each is used once. */
export class OAuthStateStore {
  readonly #table: Table;
  readonly #dataKeys: DataKeys;

  constructor(table: Table, dataKeys: DataKeys) {
    this.#table = table;
    this.#dataKeys = dataKeys;
  }

  /** Stores an attempt under its `state` and replaces any earlier one. */
  async insert(state: string, attempt: OAuthAttempt): Promise<void> {
    const stateHash = sha256Hex(state);
    const secrets = seal(JSON.stringify(attempt.secrets), stateBinding(stateHash), this.#dataKeys);
    const columns = oauthStateRow.encode({ ...attempt, secrets });
    await this.#table.put(stateHash, { rowKey: ROW_KEY, ...columns });
  }

  /** Finds the attempt. It is undefined also when its data key is gone. @throws DamagedRow */
  async find(state: string): Promise<FoundAttempt | undefined> {
    const stateHash = sha256Hex(state);
    const stored = await this.#table.find(stateHash, ROW_KEY);
    if (stored === undefined) return undefined;
    const { secrets: sealed, ...columns } = oauthStateRow.decode(stored.row);
    const opened = unseal(sealed, stateBinding(stateHash), this.#dataKeys);
    if (opened === undefined) return undefined;
    // Safe: it was bounded when it was written.
    const secrets = secretsShape().parse(JSON.parse(opened)) as OAuthAttempt["secrets"];
    return { attempt: { ...columns, secrets }, etag: stored.etag };
  }

  /** Removes the attempts of these sessions. Reads the whole table, which has few rows. */
  async removeOfSessions(sessionIds: readonly string[]): Promise<void> {
    let after: string | undefined;
    do {
      const selection = { property: "sessionId", values: sessionIds };
      ({ next: after } = await this.#table.removeSelected(selection, after));
    } while (after !== undefined);
  }

  /** Removes a page of the attempts that ended before the time. Reads the whole table, which has few rows. */
  removeEndedBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "expiresAt", time: time.toISOString() };
    return this.#table.removeSelected({ olderThan }, after);
  }

  /** Consumes an attempt and returns whether this call did. Of two callbacks with one state, only one gets true. */
  consume(state: string, { etag }: FoundAttempt): Promise<boolean> {
    return this.#table.delete(sha256Hex(state), ROW_KEY, etag);
  }
}
