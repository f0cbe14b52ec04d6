import { undoIfRefused, withoutChange } from "../../callers/access-check.ts";
import type { RaiseAccess } from "../../billing/access-version.ts";
import { invariant, serviceUnavailable } from "../../runtime/errors.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import { longJson, rowCodec, text, textOrNull } from "../../runtime/storage/codec.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import { LOST, untilWon } from "../../runtime/until-won.ts";
import type { Row, RowWrite } from "../../runtime/storage/row.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { ShardedCounter, type Counted } from "../../runtime/storage/sharded-counter.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import {
  fitsFilter,
  PROFILE_STATUSES,
  type Profile,
  type ProfileFilter,
  type ProfileStatus,
} from "./profile.ts";

/** A profile; the row key has its id. */
export const profileRow = rowCodec("profile", {
  applicationId: text(),
  title: text(),
  externalId: textOrNull(),
  metadata: longJson<Readonly<Record<string, string>>>(),
  status: text(),
  createdAt: text(),
  updatedAt: text(),
});

/** The claim of an external id; the row key has a hash of it. */
export const externalIdRow = rowCodec("external id claim", { profileId: text() });

const PREFIX = "F|";
const COUNT_PREFIX = "FN|";
const ID_START = "F|0000000000000000|".length;

/** Returns the row key. It has the id's time: lists are newest first, and a point read still finds it. */
const rowKey = (profileId: string) =>
  `${PREFIX}${inverted(timeOfId("profile", profileId))}|${profileId}`;

const externalKey = (applicationId: string, externalId: string) =>
  `FX|${applicationId}|${sha256Hex(externalId)}`;

/** Returns the count of the profiles of one application, or of all. */
function countOf(partitionKey: string, applicationId: string | null): Counted {
  const prefix = applicationId === null ? COUNT_PREFIX : `${COUNT_PREFIX}${applicationId}|`;
  return { partitionKey, prefix };
}

function toRow(profile: Profile): Row {
  return { ...profileRow.encode(profile), rowKey: rowKey(profile.id) };
}

/** Takes an unknown status for `disabled`, so that nothing is published. */
function statusOf(status: string): ProfileStatus {
  return PROFILE_STATUSES.find((known) => known === status) ?? "disabled";
}

/** Decodes a profile. @throws DamagedRow */
function toProfile(row: Row): Profile {
  const profile = profileRow.decode(row);
  return { ...profile, id: row.rowKey.slice(ID_START), status: statusOf(profile.status) };
}

/** Returns the writes that move the claim of an external id together with its profile. */
function claimWrites(before: Profile | undefined, after: Profile): RowWrite[] {
  const { applicationId, externalId } = after;
  const old = before?.externalId ?? null;
  if (old === externalId) return [];
  const writes: RowWrite[] = [];
  if (old !== null) writes.push({ kind: "delete", rowKey: externalKey(applicationId, old) });
  if (externalId !== null) {
    const columns = externalIdRow.encode({ profileId: after.id });
    const row = { ...columns, rowKey: externalKey(applicationId, externalId) };
    writes.push({ kind: "create", row });
  }
  return writes;
}

/** The result of a write. `taken`: another profile of the application has the external id. */
export type ProfileWritten =
  | { readonly kind: "written"; readonly profile: Profile }
  | { readonly kind: "taken"; readonly existingId: string };

/** Where a page starts, and how many items it has at most. */
export interface ListPosition {
  readonly after: string | undefined;
  readonly limit: number;
}

/**
 * Stores the profiles of a platform in its partition, so that another platform's id is simply not found. A profile changes
 * in one transaction with the claim of its external id, and is created or removed in one with the count of profiles.
 */
export class ProfileStore {
  readonly #core: Table;
  readonly #counter: ShardedCounter;
  readonly #raiseAccess: RaiseAccess;

  constructor(core: Table, raiseAccess: RaiseAccess) {
    this.#core = core;
    this.#raiseAccess = raiseAccess;
    this.#counter = new ShardedCounter(core);
  }

  /** Finds a profile. @throws DamagedRow */
  async find(platformId: string, profileId: string): Promise<Profile | undefined> {
    if (!isId("profile", profileId)) return undefined;
    const stored = await this.#core.find(platformId, rowKey(profileId));
    return stored === undefined ? undefined : toProfile(stored.row);
  }

  /** Returns the id of the application's profile with this external id. @throws DamagedRow */
  async findByExternalId(
    platformId: string,
    applicationId: string,
    externalId: string,
  ): Promise<string | undefined> {
    const stored = await this.#core.find(platformId, externalKey(applicationId, externalId));
    return stored === undefined ? undefined : externalIdRow.decode(stored.row).profileId;
  }

  /** Stores a new profile. Of concurrent ones with the same external id, exactly one is written. */
  async create(platformId: string, profile: Profile): Promise<ProfileWritten> {
    const written: ProfileWritten = { kind: "written", profile };
    const row: RowWrite = { kind: "create", row: toRow(profile) };
    undoIfRefused(async () => {
      // The claim of the external id is a row of its own.
      await this.update(platformId, profile.id, (made) => ({ ...made, externalId: null }));
      await this.delete(platformId, profile.id);
    });
    const other = await this.#counter.commit<ProfileWritten>(
      countOf(platformId, profile.applicationId),
      { by: 1, writes: [row, ...claimWrites(undefined, profile)] },
      async () => {
        // The id was made for this call, so a row under it is its own work.
        if ((await this.find(platformId, profile.id)) !== undefined) return written;
        const existingId = await this.#ownerOfExternalId(platformId, profile);
        return existingId === undefined ? undefined : { kind: "taken", existingId };
      },
    );
    return other ?? written;
  }

  /**
   * Stores what `change` makes of the profile, and then raises the access version, unless the profile was and stays
   * active. May be repeated. Returns undefined when there is none.
   * @throws DamagedRow
   */
  async update(
    platformId: string,
    profileId: string,
    change: (profile: Profile) => Profile,
  ): Promise<ProfileWritten | undefined> {
    if (!isId("profile", profileId)) return undefined;
    let isStillActive = false;
    let replaced: { readonly before: Profile; readonly after: Profile } | undefined;
    undoIfRefused(() =>
      this.update(platformId, profileId, (present) =>
        replaced === undefined ? present : withoutChange(present, replaced),
      ),
    );
    const written = await untilWon<ProfileWritten | undefined>(async () => {
      const stored = await this.#core.find(platformId, rowKey(profileId));
      if (stored === undefined) return undefined;
      const before = toProfile(stored.row);
      const after = change(before);
      invariant(after.id === profileId, "an update changed a profile's id");
      isStillActive = before.status === "active" && after.status === "active";
      replaced = { before, after };
      const result = await this.#core.transact(platformId, [
        { kind: "merge", row: toRow(after), etag: stored.etag },
        ...claimWrites(before, after),
      ]);
      if (result.kind === "applied") return { kind: "written", profile: after };
      if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
      const existingId = await this.#ownerOfExternalId(platformId, after);
      return existingId === undefined ? LOST : { kind: "taken", existingId };
    });
    if (written?.kind === "written" && !isStillActive) await this.#raiseAccess(platformId);
    return written;
  }

  /** Removes a profile. Its external id has to be cleared before, because the claim is a row of its own. May be repeated. */
  async delete(platformId: string, profileId: string): Promise<void> {
    const profile = await this.find(platformId, profileId);
    if (profile === undefined) return;
    await this.#counter.commit(
      countOf(platformId, profile.applicationId),
      { by: -1, writes: [{ kind: "delete", rowKey: rowKey(profileId) }] },
      async () => ((await this.find(platformId, profileId)) === undefined ? "gone" : undefined),
    );
  }

  /** Returns the id of the other profile that has the profile's external id. */
  async #ownerOfExternalId(platformId: string, profile: Profile): Promise<string | undefined> {
    if (profile.externalId === null) return undefined;
    const { applicationId, externalId } = profile;
    const owner = await this.findByExternalId(platformId, applicationId, externalId);
    return owner === profile.id ? undefined : owner;
  }

  /** Lists profiles, newest first; `after` is where the last page ended. Leaves out damaged ones. */
  list(
    platformId: string,
    filter: ProfileFilter,
    { after, limit }: ListPosition,
  ): Promise<Scanned<Profile>> {
    return scan(this.#core, {
      partitionKey: platformId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick({ row }) {
        const profile = toProfile(row);
        return fitsFilter(profile, filter) ? profile : undefined;
      },
    });
  }

  /** Lists those of the given profiles that match, like `list`, and reads no others. */
  async listOf(
    platformId: string,
    profileIds: readonly string[],
    filter: ProfileFilter,
    { after, limit }: ListPosition,
  ): Promise<Scanned<Profile>> {
    const byRowKey = new Map(
      profileIds.filter((id) => isId("profile", id)).map((id) => [rowKey(id), id]),
    );
    const ordered = [...byRowKey]
      .filter(([key]) => after === undefined || key >= after)
      .sort(([left], [right]) => (left < right ? -1 : 1));
    const items: Profile[] = [];
    for (let start = 0; start < ordered.length; start += limit + 1) {
      const batch = ordered.slice(start, start + limit + 1);
      const found = await Promise.all(
        batch.map(([, id]) => undefinedIfDamaged(this.find(platformId, id))),
      );
      for (const profile of found) {
        if (profile === undefined || !fitsFilter(profile, filter)) continue;
        if (items.length === limit) return { items, next: rowKey(profile.id) };
        items.push(profile);
      }
    }
    return { items, next: undefined };
  }

  /** Counts the profiles of one application, or of all, including disabled ones and those that are being erased. */
  count(platformId: string, applicationId: string | null): Promise<number> {
    return this.#counter.sum(countOf(platformId, applicationId));
  }
}
