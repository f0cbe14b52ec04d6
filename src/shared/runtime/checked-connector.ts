import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { buildConnector } from "undici";
import { OWN_HOSTS } from "./http-call.ts";
import type { NameResolver } from "./resolve-host.ts";

/** From the beginning of the look-up until the connection is secure. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How many addresses of each family are dialled. A name may have thousands. */
const DIALLED_PER_FAMILY_MAX = 4;

/** Finds the addresses of a name for a connection. @throws Error with the code of the failure */
type FindAddresses = (host: string) => Promise<readonly LookupAddress[]>;
type IsAllowed = (address: string) => boolean;

const connectError = (code: string, message: string) => Object.assign(new Error(message), { code });
const blockedAddress = () => connectError("EBLOCKED", "blocked address");

/** Chooses some addresses of each family to dial. @throws Error when any of the addresses may not be dialled */
function dialled(found: readonly LookupAddress[], isAllowed: IsAllowed): LookupAddress[] {
  if (!found.every(({ address }) => isAllowed(address))) throw blockedAddress();
  const ofFamily = (family: number) =>
    found.filter((one) => one.family === family).slice(0, DIALLED_PER_FAMILY_MAX);
  const [preferred, other] = found[0]?.family === 6 ? [6, 4] : [4, 6];
  return [...ofFamily(preferred), ...ofFamily(other)];
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Resolves a name and refuses it when one of its addresses may not be dialled. Only these addresses are used. */
function checkedLookup(find: FindAddresses, isAllowed: IsAllowed) {
  return (
    host: string,
    options: { readonly all?: boolean | undefined },
    callback: LookupCallback,
  ): void => {
    const pass = (addresses: LookupAddress[]) => {
      const [first] = addresses;
      if (first === undefined) callback(connectError("ENOTFOUND", "the name has no address"), []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    const fail = (error: unknown) => callback(error as NodeJS.ErrnoException, []);
    void find(host)
      .then((found) => dialled(found, isAllowed))
      .then(pass, fail);
  };
}

/**
 * Creates the connector of an owner. It checks the address of each connection before anything is sent, in addition to
 * the addresses that were resolved.
 */
export function checkedConnector(
  build: typeof buildConnector,
  { names, owner, isAllowed }: { names: NameResolver; owner: string; isAllowed: IsAllowed },
): buildConnector.connector {
  const find: FindAddresses = async (host) => {
    // The system's resolver blocks a thread and can't be canceled: never for names that callers chose.
    if (owner === OWN_HOSTS) return await lookup(host, { all: true });
    const addresses = await names.resolve(host, owner);
    // As for a private address: callers must not find out which names our own network knows.
    if (addresses === undefined) throw blockedAddress();
    if (addresses.length === 0)
      throw connectError("EAI_AGAIN", "the name could not be resolved in time");
    return addresses;
  };
  const connect = build({ lookup: checkedLookup(find, isAllowed), timeout: CONNECT_TIMEOUT_MS });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (isAllowed(socket.remoteAddress ?? "")) return callback(null, socket);
      socket.destroy();
      callback(blockedAddress(), null);
    });
}
