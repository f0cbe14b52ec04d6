import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { corsPolicy, type CorsPolicy } from "./cors.ts";

export type Settings = Readonly<Record<string, string | undefined>>;

const LocalSettings = z.object({
  IsEncrypted: z.literal(false).optional(),
  Values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  Host: z
    .object({ CORS: z.string().optional(), CORSCredentials: z.boolean().optional() })
    .optional(),
});
type LocalSettings = z.infer<typeof LocalSettings>;

/** Reads local.settings.json; undefined when there is no such file, which is how it is in production. */
function readFile(appRoot: string): LocalSettings | undefined {
  const path = join(appRoot, "local.settings.json");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const parsed = LocalSettings.safeParse(parseJson(path, text));
  if (!parsed.success) throw new Error(`${path} is not valid:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Returns the `Values` of local.settings.json. */
export function readLocalSettings(appRoot: string): Record<string, string> {
  const { Values } = readFile(appRoot) ?? { Values: {} };
  return Object.fromEntries(Object.entries(Values).map(([name, value]) => [name, String(value)]));
}

/** Returns whose pages may read answers, by `Host` of local.settings.json. */
export function readLocalCors(appRoot: string): CorsPolicy | undefined {
  const { CORS, CORSCredentials } = readFile(appRoot)?.Host ?? {};
  return corsPolicy(CORS, CORSCredentials);
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new Error(`${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/**
 * The text with each `%NAME%` replaced by that setting, as the host does it for queue names and schedules. A name
 * without a setting is an error, as it is there: the function could never run.
 */
export function resolveExpressions(text: string, settings: Settings): string {
  return text.replaceAll(/%([^%]+)%/g, (_whole, name: string) => {
    const value = settings[name];
    if (value === undefined || value === "")
      throw new Error(`"%${name}%" does not resolve: there is no setting ${name}`);
    return value;
  });
}

export type Connection =
  | { readonly kind: "connectionString"; readonly value: string }
  | { readonly kind: "identity"; readonly queueServiceUri: string };

/**
 * The storage connection that a trigger names: the setting itself or the one with `AzureWebJobs` before its name,
 * either as a connection string or as the `__` settings of a managed identity.
 */
export function resolveConnection(name: string, settings: Settings): Connection {
  for (const candidate of [name, `AzureWebJobs${name}`]) {
    const value = settings[candidate];
    if (value !== undefined && value !== "") return { kind: "connectionString", value };
    const uri = settings[`${candidate}__queueServiceUri`];
    if (uri !== undefined && uri !== "") return { kind: "identity", queueServiceUri: uri };
    const account = settings[`${candidate}__accountName`];
    if (account !== undefined && account !== "")
      return {
        kind: "identity",
        queueServiceUri: `https://${account}.queue.core.windows.net`,
      };
  }
  throw new Error(
    `no storage connection: set ${name} to a connection string, or ${name}__accountName for a managed identity`,
  );
}
