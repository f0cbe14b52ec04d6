import * as z from "zod";
import type { NetworkData } from "../networks/contract/network.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { shape } from "../runtime/shape.ts";
import {
  fromChunks,
  numberOf,
  textOf,
  textOrNull,
  toChunks,
  type Row,
} from "../runtime/storage/row.ts";
import {
  accountShape,
  connectionErrorShape,
  connectionStatusShape,
  type Connection,
} from "./connection.ts";

export const networkName = shape(() => z.enum(NETWORK_NAMES));
export const networkData = shape((): z.ZodType<NetworkData> => z.record(z.string(), z.unknown()));
const scopesShape = shape(() => z.array(z.string()));

/** Where sealed credentials belong: copied to another profile or network they don't open. */
export function credentialsPlace(profileId: string, network: string): string {
  return `connections|${profileId}|${network}|credentials`;
}

/** The whole row: a merge would leave the tail of longer credentials behind. `sealed` is "" once they are purged. */
export function toConnectionRow(connection: Connection, sealed: string, leaseUntil: string): Row {
  return {
    rowKey: connection.network,
    id: connection.id,
    platformId: connection.platformId,
    applicationId: connection.applicationId,
    status: connection.status,
    account: JSON.stringify(connection.account),
    grantId: connection.grantId ?? "",
    instanceUrl: connection.instanceUrl ?? "",
    scopes: JSON.stringify(connection.scopes),
    ...toChunks("limits", JSON.stringify(connection.limits)),
    ...toChunks("credentials", sealed),
    expiresAt: connection.expiresAt ?? "",
    lastUsedAt: connection.lastUsedAt ?? "",
    lastError: connection.lastError === null ? "" : JSON.stringify(connection.lastError),
    checkedAt: connection.checkedAt ?? "",
    warnedExpiresAt: connection.warnedExpiresAt ?? "",
    generation: connection.generation,
    leaseUntil,
    createdAt: connection.createdAt,
    updatedAt: connection.updatedAt,
  };
}

export function fromConnectionRow(profileId: string, row: Row): Connection {
  const lastError = textOrNull(row, "lastError");
  const grantId = textOrNull(row, "grantId");
  return {
    id: textOf(row, "id"),
    platformId: textOf(row, "platformId"),
    applicationId: textOf(row, "applicationId"),
    profileId,
    network: networkName().parse(row.rowKey),
    status: connectionStatusShape().parse(row["status"]),
    account: accountShape().parse(JSON.parse(textOf(row, "account"))),
    ...(grantId === null ? {} : { grantId }),
    instanceUrl: textOrNull(row, "instanceUrl"),
    scopes: scopesShape().parse(JSON.parse(textOf(row, "scopes"))),
    limits: networkData().parse(JSON.parse(fromChunks("limits", row))),
    expiresAt: textOrNull(row, "expiresAt"),
    lastUsedAt: textOrNull(row, "lastUsedAt"),
    lastError: lastError === null ? null : connectionErrorShape().parse(JSON.parse(lastError)),
    checkedAt: textOrNull(row, "checkedAt"),
    warnedExpiresAt: textOrNull(row, "warnedExpiresAt"),
    generation: numberOf(row, "generation"),
    createdAt: textOf(row, "createdAt"),
    updatedAt: textOf(row, "updatedAt"),
  };
}
