import {
  flag,
  type Setting,
  setting,
  text,
  type ValueOf,
  withDefault,
} from "../../runtime/setting.ts";

/** The relay's own registration with a network, from the settings. */
export interface NetworkApp {
  readonly id: string;
  readonly secret: string;
  /** Version of the network's API. */
  readonly version: string;
  /** Permissions to request in addition to those for linking and publishing. The default is none. */
  readonly extraScopes?: readonly string[];
  /** The network's own name for the requested permissions, instead of a list. */
  readonly loginConfigId?: string;
  /** Whether permissions for a business are requested as well. The default is yes. */
  readonly asksForBusiness?: boolean;
  /** A second registration, for a network that requires a separate one for organizations. */
  readonly organizations?: { readonly id: string; readonly secret: string };
}

/** What people at the networks see of this service. */
export interface ServiceIdentity {
  readonly name: string;
  readonly url: string;
  /** Where operators help. */
  readonly supportUrl?: string;
  /** Where the customers' staff log in. */
  readonly dashboardUrl?: string;
  /** The user agent for pages behind links, when a card is made. The default is that of all other calls. */
  readonly linkReader?: string;
}

/** The registrations of this deployment. */
export type NetworkApps = Readonly<Partial<Record<string, NetworkApp>>>;

/** What a network makes of its settings. */
export interface FromSettings {
  readonly app?: NetworkApp | undefined;
  /** Per rolling day and network account, by the answers of `Network.quotaOf`. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** Broken rules between settings. Nothing starts with these. */
  readonly problems?: readonly string[];
}

/** The settings of a network, made with `networkSettings`. */
export interface NetworkSettings {
  readonly table: Readonly<Record<string, Setting<unknown>>>;
  read(values: Readonly<Record<string, unknown>>): FromSettings;
}

type SettingsTable = NetworkSettings["table"];

type ValuesOf<T extends SettingsTable> = { readonly [Name in keyof T]: ValueOf<T[Name]> };

/** Makes a network's settings with a typed reader of their values. */
export function networkSettings<T extends SettingsTable>(
  table: T,
  read: (values: ValuesOf<T>) => FromSettings,
): NetworkSettings {
  // Safe: this table has parsed every value before it is read.
  return { table, read: (values) => read(values as ValuesOf<T>) };
}

/** Makes the two settings of a registration, `<name>_ID` and `<name>_SECRET`. */
export function appSettings<Name extends string>(name: Name, about: string) {
  const table = {
    [`${name}_ID`]: setting(text, null, about),
    [`${name}_SECRET`]: setting(text, null, "Its secret."),
  };
  // Safe: these two keys were just made.
  return table as Readonly<Record<`${Name}_ID` | `${Name}_SECRET`, Setting<string | undefined>>>;
}

/** Reads the registration that two settings define. One without the other is a problem. */
export function readApp(
  name: string,
  values: Readonly<Record<string, unknown>>,
): { readonly app: Omit<NetworkApp, "version"> | undefined; readonly problems: readonly string[] } {
  const { [`${name}_ID`]: id, [`${name}_SECRET`]: secret } = values;
  const app = typeof id === "string" && typeof secret === "string" ? { id, secret } : undefined;
  const isHalf = (id === undefined) !== (secret === undefined);
  return {
    app,
    problems: isHalf ? [`${name}_ID, ${name}_SECRET: must be given both or neither`] : [],
  };
}

/**
 * Makes the setting that requests the permissions to comment. An app that the network has not approved for them could
 * link nobody.
 */
export function commentsSetting(title: string, permissions: readonly string[], approver = title) {
  const named = permissions.map((permission) => `\`${permission}\``).join(", ");
  return withDefault(
    flag,
    "false",
    `Whether people who link ${title} are asked for ${named}, for which ${approver} must have approved the app first: first comments need it.`,
  );
}
