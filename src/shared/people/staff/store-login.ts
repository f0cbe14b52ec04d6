import { addressNetwork } from "../../callers/caller-address.ts";
import type { RequestScope } from "../../callers/scope.ts";
import { shownTime } from "../../mail/mail.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import type { PeopleDeps } from "../deps.ts";
import type { UserChange } from "./user-store.ts";
import { isToldToday, type SignIns, type User } from "./user.ts";

/** How many networks a user is known to log in from. */
const NETWORKS_MAX = 20;
/** As long as a device is known. */
const KNOWN_MS = 180 * 24 * 60 * 60_000;
const HASH_DIGITS = 16;

/** The user of a login, and the address it came from. */
interface LogInFrom {
  readonly userId: string;
  readonly ip: string;
  readonly now: Date;
}

/** Names a network for one user. The address itself is not stored. */
const networkHash = ({ userId, ip }: LogInFrom) =>
  sha256Hex(`${userId}|${addressNetwork(ip)}`).slice(0, HASH_DIGITS);

function isKnownNetwork({ networks }: SignIns, from: LogInFrom): boolean {
  const hash = networkHash(from);
  const since = from.now.getTime() - KNOWN_MS;
  return networks.some((one) => one.hash === hash && Date.parse(one.at) > since);
}

/** Adds the network of a login to those that the user logs in from. */
export function withNetwork(signIns: SignIns, from: LogInFrom): SignIns {
  const hash = networkHash(from);
  const others = signIns.networks.filter((one) => one.hash !== hash);
  const networks = [...others, { hash, at: from.now.toISOString() }].slice(-NETWORKS_MAX);
  return { ...signIns, networks };
}

/** A login with proof of identity. */
interface ProvenLogIn {
  readonly user: User;
  /** Whether it came from a device that the user has logged in from before. */
  readonly isOwnDevice: boolean;
  readonly change: (present: User) => UserChange | undefined;
}

/**
 * Stores a login. If its device and network are both unknown, the user is notified by mail in the same transaction,
 * once a day. The network stays unknown until the user was notified of it.
 */
export async function storeLogin(
  deps: Pick<PeopleDeps, "clock" | "stores" | "mail">,
  { ip }: RequestScope,
  { user, isOwnDevice, change }: ProvenLogIn,
): Promise<User | undefined> {
  const { mail, clock, stores } = deps;
  const now = clock.now();
  const from = { userId: user.id, ip, now };
  const isOwn = (present: User) => isOwnDevice || isKnownNetwork(present.signIns, from);
  const mayTell = ({ emailVerified, signIns }: User) =>
    emailVerified && !isToldToday(signIns.toldAt, now);
  const stored = (present: User): UserChange | undefined => {
    const changed = change(present);
    if (changed === undefined || !(isOwn(present) || mayTell(present))) return changed;
    const signIns = withNetwork(present.signIns, from);
    const toldAt = isOwn(present) ? signIns.toldAt : now.toISOString();
    return { ...changed, signIns: { ...signIns, toldAt } };
  };
  if (isOwn(user) || !mayTell(user)) return await stores.users.update(user, stored);
  const { platformId, email: to, locale } = user;
  const values = { time: shownTime(now.toISOString()), address: ip };
  const notice = { kind: "newLogIn", to, locale, values } as const;
  return await mail.writeWithMails(platformId, [notice], (rows) =>
    stores.users.update(user, stored, (present) =>
      isOwn(present) || !mayTell(present) ? [] : rows,
    ),
  );
}
