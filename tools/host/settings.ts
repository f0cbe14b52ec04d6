import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { corsPolicy, type CorsPolicy } from "./cors.ts";

export type Settings = Readonly<Record<string, string | undefined>>;

const LocalSettings = z.object({
  IsEncrypted: z.literal(false).optional(),
  Values: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .default({}),
  Host: z
    .object({ CORS: z.string().optional(), CORSCredentials: z.boolean().optional() })
    .prefault({}),
});

export interface LocalSettings {
  readonly values: Readonly<Record<string, string>>;
  /** Whose pages may read answers. */
  readonly cors: CorsPolicy | undefined;
}

/** Reads local.settings.json; without such a file, as in production, nothing is set. */
export function readLocalSettings(appRoot: string): LocalSettings {
  const path = join(appRoot, "local.settings.json");
  try {
    const { Values, Host } = LocalSettings.parse(JSON.parse(readFileSync(path, "utf8")));
    return { values: Values, cors: corsPolicy(Host.CORS, Host.CORSCredentials) };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return { values: {}, cors: undefined };
    const text = cause instanceof z.ZodError ? z.prettifyError(cause) : message;
    throw new Error(`${path} is not valid: ${text}`, { cause });
  }
}
