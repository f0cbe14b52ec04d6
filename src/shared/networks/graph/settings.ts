import { matching, withDefault } from "../../runtime/setting.ts";
import { shape } from "../../runtime/shape.ts";
import { type FromSettings, readApp } from "../contract/settings.ts";

/** One setting for both networks, because they use the same API. */
export const graphVersion = {
  GRAPH_VERSION: withDefault(
    shape(() => matching(/^v\d{1,3}\.\d$/, "must be a version such as v26.0")),
    "v26.0",
    "Version of Meta's Graph API, for Facebook and Instagram.",
  ),
};

/** Reads the Graph API app that two settings define, with additional permissions to request. */
export function readGraphApp(
  name: string,
  values: Readonly<Record<string, unknown>> & { readonly GRAPH_VERSION: string },
  extraScopes: readonly string[],
): Pick<FromSettings, "app" | "problems"> {
  const { app, problems } = readApp(name, values);
  const extras = extraScopes.length === 0 ? {} : { extraScopes };
  return { app: app && { ...app, version: values.GRAPH_VERSION, ...extras }, problems };
}
