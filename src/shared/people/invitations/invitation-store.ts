import { creation } from "../../runtime/storage/row.ts";
import { USER_ROLES } from "../../callers/caller.ts";
import { accessOperation, type Commit } from "../../partition/partition.ts";
import { comparedEmail } from "../../runtime/email.ts";
import { LOCALES } from "../../runtime/locale.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import { integer, oneOf, rowCodec, text, textOrNull } from "../../runtime/storage/codec.ts";
import { newestFirst, type ListPosition } from "../../runtime/storage/newest-first.ts";
import type { Row, RowWrite, StoredRow } from "../../runtime/storage/row.ts";
import type { ScannedPage } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import { PLATFORM_ROW_KEY, platformStatusOf, userCountWrite } from "../../tenants/tenants.ts";
import { newUserRow, userKey, userRow } from "../staff/user-store.ts";
import type { User } from "../staff/user.ts";
import { isStoodFor, type Invitation } from "./invitation.ts";

/** An invitation. The row key has the id. */
export const invitationRow = rowCodec("invitation", {
  email: text(),
  role: oneOf(USER_ROLES),
  status: oneOf(["open", "accepted", "withdrawn"]),
  locale: oneOf(LOCALES),
  invitedBy: text(),
  passwordVersion: integer(),
  userId: text(),
  linkMark: text(),
  createdAt: text(),
  expiresAt: text(),
  acceptedAt: textOrNull(),
});

/** The latest invitation of an email, while it is open. The row key has a hash of the address. */
export const invitedEmailRow = rowCodec("invitation of an email", {
  invitationId: text(),
  expiresAt: text(),
});

const PREFIX = "V|";
const EMAIL_PREFIX = "VX|";
const invitations = newestFirst("invitation", PREFIX, toInvitation);
const emailKey = (email: string) => EMAIL_PREFIX + sha256Hex(comparedEmail(email));

function toInvitation(platformId: string, row: Row): Invitation {
  return { ...invitationRow.decode(row), id: invitations.idOf(row), platformId };
}

const merging = (row: Row, { etag }: StoredRow): RowWrite => ({ kind: "merge", row, etag });

/** Returns the id of the invitation that an email's row leads to, or "". */
const pointedTo = (stored: StoredRow | undefined) =>
  stored === undefined ? "" : invitedEmailRow.decode(stored.row).invitationId;

/** The latest invitation of an email, as it was read. `id` is "" when there is none. */
export interface LatestInvitation {
  readonly id: string;
  readonly invitation: Invitation | undefined;
}

type Withdrawn = "withdrawn" | "accepted" | "absent";

/** Stores the invitations of platforms, each in the platform's partition. */
export class InvitationStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  find(platformId: string, id: string): Promise<Invitation | undefined> {
    return invitations.find(this.#core, platformId, id);
  }

  async findLatest(platformId: string, email: string): Promise<LatestInvitation> {
    const id = pointedTo(await this.#core.find(platformId, emailKey(email)));
    return { id, invitation: id === "" ? undefined : await this.find(platformId, id) };
  }

  /** Lists invitations that fit, newest first, without damaged ones. */
  list(
    platformId: string,
    position: ListPosition,
    fits: (invitation: Invitation) => boolean,
  ): Promise<ScannedPage<Invitation>> {
    return invitations.list(this.#core, platformId, position, fits);
  }

  /**
   * Stores a new invitation, or the open one again, with a new link and `more` new rows. Returns false, and stores
   * nothing, when `latest` is no longer the latest invitation of the email, or the open one has ended.
   */
  issue(invitation: Invitation, latest: LatestInvitation, more: readonly Row[]): Promise<boolean> {
    const { id, platformId, email, role, locale, invitedBy, passwordVersion } = invitation;
    const { linkMark, expiresAt } = invitation;
    const [key, pointerKey] = [invitations.key(id), emailKey(email)];
    return this.#commit<boolean>(
      platformId,
      accessOperation<boolean>([key, pointerKey], ({ row }) => {
        const [stored, pointer] = [row(key), row(pointerKey)];
        const present = stored === undefined ? undefined : toInvitation(platformId, stored.row);
        if (present?.linkMark === linkMark) return { answer: true };
        if (pointedTo(pointer) !== latest.id) return { answer: false };
        if (present !== undefined && present.status !== "open") return { answer: false };
        const change = { role, locale, invitedBy, passwordVersion, linkMark, expiresAt };
        const pointing = invitedEmailRow.encode({ invitationId: id, expiresAt });
        const writes = [
          stored === undefined
            ? creation({ ...invitationRow.encode(invitation), rowKey: key })
            : merging({ ...invitationRow.encodePart(change), rowKey: key }, stored),
          pointer === undefined
            ? creation({ ...pointing, rowKey: pointerKey })
            : merging({ ...pointing, rowKey: pointerKey }, pointer),
          ...more.map(creation),
        ];
        return { answer: true, writes, raises: false };
      }),
    );
  }

  /**
   * Accepts an invitation as it was read and stores its user, in one transaction. Returns false when it has ended or
   * got another link, and for every use but one.
   */
  accept(invitation: Invitation, user: User, more: readonly Row[]): Promise<boolean> {
    const { id, platformId, email, linkMark, invitedBy } = invitation;
    const [key, pointerKey, ofUser] = [invitations.key(id), emailKey(email), userKey(user.id)];
    const ofInviter = userKey(invitedBy);
    return this.#commit<boolean>(
      platformId,
      accessOperation<boolean>(
        [key, pointerKey, ofUser, ofInviter, PLATFORM_ROW_KEY],
        ({ row, now }) => {
          const [stored, platform, present] = [row(key), row(PLATFORM_ROW_KEY), row(ofUser)];
          // The hash has a random part, which tells an earlier try of this use from another use.
          if (present !== undefined)
            return { answer: userRow.decode(present.row).passwordHash === user.passwordHash };
          const inviter = row(ofInviter);
          if (stored === undefined || platform === undefined || inviter === undefined)
            return { answer: false };
          const open = toInvitation(platformId, stored.row);
          const { status, linkMark: mark, expiresAt } = open;
          const isOpen = status === "open" && expiresAt > now.toISOString();
          if (!isStoodFor(open, userRow.decode(inviter.row))) return { answer: false };
          const isActive = platformStatusOf(platform.row) === "active";
          if (!isOpen || mark !== linkMark || !isActive) return { answer: false };
          const accepted = { status: "accepted", acceptedAt: user.createdAt } as const;
          const columns = invitationRow.encodePart(accepted);
          const writes = [
            merging({ ...columns, rowKey: key }, stored),
            ...this.#unpointed(id, pointerKey, row(pointerKey)),
            creation(newUserRow(user)),
            userCountWrite(platform, 1, user.role),
            ...more.map(creation),
          ];
          return { answer: true, writes, raises: false };
        },
      ),
    );
  }

  async withdraw(platformId: string, id: string): Promise<Withdrawn> {
    // The email of an invitation never changes, so it may be read before.
    const found = await this.find(platformId, id);
    if (found === undefined) return "absent";
    const [key, pointerKey] = [invitations.key(id), emailKey(found.email)];
    return await this.#commit<Withdrawn>(
      platformId,
      accessOperation<Withdrawn>([key, pointerKey], ({ row }) => {
        const stored = row(key);
        if (stored === undefined) return { answer: "absent" };
        const { status } = toInvitation(platformId, stored.row);
        if (status !== "open") return { answer: status };
        const columns = invitationRow.encodePart({ status: "withdrawn" });
        const writes = [
          merging({ ...columns, rowKey: key }, stored),
          ...this.#unpointed(id, pointerKey, row(pointerKey)),
        ];
        return { answer: "withdrawn", writes, raises: false };
      }),
    );
  }

  async removeEndedBefore(platformId: string, time: Date, after: string | undefined) {
    const olderThan = { property: "expiresAt", time: time.toISOString() };
    const { before } = invitations.range;
    const range = { partitionKey: platformId, from: EMAIL_PREFIX, before };
    return await this.#core.removeSelected({ ...range, olderThan }, after);
  }

  /** Returns the write that removes an email's row if it leads to this invitation. */
  #unpointed(id: string, rowKey: string, pointer: StoredRow | undefined): RowWrite[] {
    return pointedTo(pointer) === id ? [{ kind: "delete", rowKey }] : [];
  }
}
