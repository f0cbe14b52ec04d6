import { setting, text, type Setting, type ValueOf } from "../../runtime/setting.ts";
import type { FromSettings, NetworkApp, NetworkSettings } from "./network.ts";

type Table = NetworkSettings["table"];
type ValuesOf<T extends Table> = { readonly [Name in keyof T]: ValueOf<T[Name]> };

/** A network's settings, and what it makes of their values. */
export function networkSettings<T extends Table>(
  table: T,
  read: (values: ValuesOf<T>) => FromSettings,
): NetworkSettings {
  // Safe: every value was parsed by this table before it is read.
  return { table, read: (values) => read(values as ValuesOf<T>) };
}

/** The two settings of a registration, `<name>_ID` and `<name>_SECRET`. */
export function appSettings<Name extends string>(name: Name, about: string) {
  const table = {
    [`${name}_ID`]: setting(text, null, about),
    [`${name}_SECRET`]: setting(text, null, "Its secret."),
  };
  // Safe: the two keys that were just made.
  return table as Readonly<Record<`${Name}_ID` | `${Name}_SECRET`, Setting<string | undefined>>>;
}

/** The registration that two settings make; half of one is a problem. */
export function readApp(
  name: string,
  values: Readonly<Record<string, unknown>>,
): { readonly app: Omit<NetworkApp, "version"> | undefined; readonly problems: readonly string[] } {
  const { [`${name}_ID`]: id, [`${name}_SECRET`]: secret } = values;
  const app = typeof id === "string" && typeof secret === "string" ? { id, secret } : undefined;
  const isHalf = (id === undefined) !== (secret === undefined);
  return { app, problems: isHalf ? [`${name}_ID and ${name}_SECRET belong together`] : [] };
}
