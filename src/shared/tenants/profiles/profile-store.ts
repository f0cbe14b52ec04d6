import {
  accessOperation,
  type Commit,
  type PartitionView,
  countsKey,
  countWrite,
} from "../../partition/partition.ts";
import { invariant, serviceUnavailable } from "../../runtime/errors.ts";
import { foldedName, foldedNameKey, idOfNameKey } from "../../runtime/folded-name.ts";
import { isId } from "../../runtime/ids.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import {
  json,
  longJson,
  metadataForm,
  namesForm,
  rowCodec,
  text,
  textOrNull,
} from "../../runtime/storage/codec.ts";
import { undefinedIfDamaged, unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { type ListPosition, newestFirst } from "../../runtime/storage/newest-first.ts";
import type { Row, RowWrite } from "../../runtime/storage/row.ts";
import type { ScannedPage } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import {
  fitsProfileFilter,
  PROFILE_STATUSES,
  type Profile,
  type ProfileFilter,
} from "./profile.ts";

/** A profile. The row key has its id. */
export const profileRow = rowCodec("profile", {
  applicationId: text(),
  title: text(),
  externalId: textOrNull(),
  metadata: longJson(metadataForm),
  status: text(),
  /** The folded names by which it is found: what its next change deletes, also when a later build folds otherwise. */
  names: json(namesForm()),
  createdAt: text(),
  updatedAt: text(),
});

/** The claim of an external id. The row key has a hash of it. */
export const externalIdRow = rowCodec("external id claim", { profileId: text() });

/** More often than a profile's external id can change between a read and a transaction. */
const CLAIMS_MAX = 6;

/** A name by which a profile is found. The row key has it, and there is one row for each different name. */
export const profileNameRow = rowCodec("name of a profile", {});

/** Returns the names by which a profile is found, as they stand in keys. */
function namesOf({ title, externalId }: Profile): string[] {
  const names = [title, externalId ?? ""].map(foldedName).filter((name) => name !== "");
  return [...new Set(names)];
}

const namesOfApplication = (applicationId: string) => `FT|${applicationId}|`;

/** Returns the key of the row by which a profile is found under a folded name. */
export const profileNameKey = (
  { id, applicationId }: Pick<Profile, "id" | "applicationId">,
  folded: string,
) => namesOfApplication(applicationId) + foldedNameKey(folded, id);

/** Returns the writes that replace the rows of some names of a profile by those of others. */
function nameWrites(
  profile: Profile,
  before: readonly string[],
  after: readonly string[],
): RowWrite[] {
  const keyOf = (name: string) => profileNameKey(profile, name);
  const deleted = before.filter((name) => !after.includes(name)).map(keyOf);
  const created = after.filter((name) => !before.includes(name)).map(keyOf);
  return [
    ...deleted.map((rowKey) => ({ kind: "delete", rowKey }) as const),
    ...created.map((rowKey) => {
      const row = { ...profileNameRow.encode({}), rowKey };
      return { kind: "create", row } as const;
    }),
  ];
}

const profiles = newestFirst("profile", "F|", (_platformId, row) => toProfile(row));
export const profileKey = profiles.key;

const externalKey = (applicationId: string, externalId: string) =>
  `FX|${applicationId}|${sha256Hex(externalId)}`;

const claimKeys = ({ applicationId, externalId }: Profile) =>
  externalId === null ? [] : [externalKey(applicationId, externalId)];

function profileToRow(profile: Profile): Row {
  const columns = profileRow.encode({ ...profile, names: namesOf(profile) });
  return { ...columns, rowKey: profileKey(profile.id) };
}

function toProfile(row: Row): Profile {
  const { names: _, ...profile } = profileRow.decode(row);
  // Treats an unknown status as `disabled`, so that nothing is published.
  return {
    ...profile,
    id: profiles.idOf(row),
    status: PROFILE_STATUSES.find((known) => known === profile.status) ?? "disabled",
  };
}

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

/** Which of the names to list. */
interface NamesPart {
  readonly platformId: string;
  readonly applicationId: string;
  readonly beginning: string;
  readonly at: string | undefined;
  readonly rows: number;
}

/** The result of a write. `taken`: another profile of the application has the external id. */
export type ProfileWritten =
  | { readonly kind: "written"; readonly profile: Profile }
  | { readonly kind: "taken"; readonly existingId: string };

/** Finds another profile that has the profile's external id. @throws DamagedRow */
function takenBy(profile: Profile, row: PartitionView["row"]): ProfileWritten | undefined {
  const [key] = claimKeys(profile);
  const claim = key === undefined ? undefined : row(key);
  const existingId = claim && externalIdRow.decode(claim.row).profileId;
  return existingId === undefined || existingId === profile.id
    ? undefined
    : { kind: "taken", existingId };
}

/**
 * Stores the profiles of a platform in its partition, so that another platform's id is not found. A profile changes in
 * one transaction with the claim of its external id and the names by which it is found, and is created or removed in one
 * with the count of profiles.
 */
export class ProfileStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  find(platformId: string, profileId: string): Promise<Profile | undefined> {
    return profiles.find(this.#core, platformId, profileId);
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
  create(platformId: string, profile: Profile): Promise<ProfileWritten> {
    const { id, applicationId } = profile;
    const [key, counts] = [profileKey(id), countsKey(applicationId)];
    const written: ProfileWritten = { kind: "written", profile };
    return this.#commit<ProfileWritten>(
      platformId,
      accessOperation([key, counts, ...claimKeys(profile)], ({ row }) => {
        // The id was made for this call, so this call has written the row.
        if (row(key) !== undefined) return { answer: written };
        const taken = takenBy(profile, row);
        if (taken !== undefined) return { answer: taken };
        const writes: RowWrite[] = [
          { kind: "create", row: profileToRow(profile) },
          countWrite(applicationId, row(counts), "profiles", 1),
          ...claimWrites(undefined, profile),
          ...nameWrites(profile, [], namesOf(profile)),
        ];
        return { answer: written, writes, raises: false };
      }),
    );
  }

  /**
   * Stores what `change` makes of the profile. Raises the access version unless the profile was and stays active.
   * Returns undefined when the profile doesn't exist. May be repeated.
   * @throws DamagedRow
   */
  async update(
    platformId: string,
    profileId: string,
    change: (profile: Profile) => Profile,
  ): Promise<ProfileWritten | undefined> {
    for (let tries = 1; ; tries += 1) {
      const found = await this.find(platformId, profileId);
      if (found === undefined) return undefined;
      const written = await this.#updateOnce(platformId, change, change(found));
      if (written !== "other_claim") return written;
      if (tries === CLAIMS_MAX) throw serviceUnavailable();
    }
  }

  /** Returns "other_claim" when the profile has changed, so that the change needs another external id than planned. */
  #updateOnce(
    platformId: string,
    change: (profile: Profile) => Profile,
    planned: Profile,
  ): Promise<ProfileWritten | undefined | "other_claim"> {
    const key = profileKey(planned.id);
    return this.#commit(
      platformId,
      accessOperation<ProfileWritten | undefined | "other_claim">(
        [key, ...claimKeys(planned)],
        ({ row }) => {
          const stored = row(key);
          if (stored === undefined) return { answer: undefined };
          const before = toProfile(stored.row);
          const after = change(before);
          invariant(after.id === planned.id, "an update changed a profile's id");
          if (after.externalId !== planned.externalId) return { answer: "other_claim" };
          const taken = takenBy(after, row);
          if (taken !== undefined) return { answer: taken };
          const writes: RowWrite[] = [
            { kind: "merge", row: profileToRow(after), etag: stored.etag },
            ...claimWrites(before, after),
            ...nameWrites(after, profileRow.decode(stored.row).names, namesOf(after)),
          ];
          const isStillActive = before.status === "active" && after.status === "active";
          return { answer: { kind: "written", profile: after }, writes, raises: !isStillActive };
        },
      ),
    );
  }

  /** Removes a profile. Its external id must be cleared before, as the claim is a separate row. May be repeated. */
  async delete(platformId: string, profileId: string): Promise<void> {
    const profile = await this.find(platformId, profileId);
    if (profile === undefined) return;
    const { applicationId } = profile;
    const [key, counts] = [profileKey(profileId), countsKey(applicationId)];
    await this.#commit<void>(
      platformId,
      accessOperation([key, counts], ({ row }) => {
        const stored = row(key);
        if (stored === undefined) return { answer: undefined };
        const writes: RowWrite[] = [
          { kind: "delete", rowKey: key },
          countWrite(applicationId, row(counts), "profiles", -1),
          ...nameWrites(profile, profileRow.decode(stored.row).names, []),
        ];
        return { answer: undefined, writes, raises: false };
      }),
    );
  }

  /**
   * Lists names of an application's profiles that begin with a folded text, in one query: the key of each, and the id of
   * the profile. `at`: the key of the first one.
   */
  async listNames({ platformId, applicationId, beginning, at, rows: limit }: NamesPart) {
    const prefix = namesOfApplication(applicationId) + beginning;
    const range = { from: at ?? prefix, before: afterPrefix(prefix), limit };
    const rows = await this.#core.list({ partitionKey: platformId, ...range });
    return rows.map(({ row }) => {
      const isReadable = unlessDamaged(() => profileNameRow.decode(row, "people")) !== undefined;
      return { key: row.rowKey, entry: isReadable ? idOfNameKey(row.rowKey) : undefined };
    });
  }

  /** Lists profiles, newest first, without damaged ones. `after` is where the last page ended. */
  list(
    platformId: string,
    filter: ProfileFilter,
    position: ListPosition,
  ): Promise<ScannedPage<Profile>> {
    return profiles.list(this.#core, platformId, position, (one) => fitsProfileFilter(one, filter));
  }

  /** Works like `list`, for the given profiles only. It reads no others. */
  async listOf(
    platformId: string,
    profileIds: readonly string[],
    filter: ProfileFilter,
    { after, limit }: ListPosition,
  ): Promise<ScannedPage<Profile>> {
    const byRowKey = new Map(
      profileIds.filter((id) => isId("profile", id)).map((id) => [profileKey(id), id]),
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
        if (profile === undefined || !fitsProfileFilter(profile, filter)) continue;
        if (items.length === limit) return { items, next: profileKey(profile.id) };
        items.push(profile);
      }
    }
    return { items, next: undefined };
  }
}
