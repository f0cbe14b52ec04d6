import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readLocalSettings } from "../tools/host/settings.ts";

type Values = Readonly<Record<string, string>>;

/** Where the pieces of a local run are, for the settings that name them. */
export interface Pieces {
  readonly publicBaseUrl: string;
  readonly connectionString: string;
  readonly sandbox: { readonly url: string; readonly hosts: readonly string[] };
  readonly mail: { readonly url: string };
  readonly issuer: {
    readonly url: string;
    readonly issuer: string;
    readonly jwksUrl: string;
    readonly audience: string;
  };
}

const EXAMPLE = "local.settings.json.example";

/** The `Values` of the example: what a local run uses where nobody chose anything else. */
function readExample(appRoot: string): Values {
  return (JSON.parse(readFileSync(join(appRoot, EXAMPLE), "utf8")) as { Values: Values }).Values;
}

/**
 * The environment of the local host: the example's values, the addresses of this run, a local.settings.json and the
 * caller's environment, each over the one before. A copy of the example chooses nothing: its addresses are those of the
 * usual ports, whatever ports this run has.
 */
export function hostEnvironment(
  pieces: Pieces,
  environment: NodeJS.ProcessEnv,
  appRoot = process.cwd(),
): Values {
  const example = readExample(appRoot);
  const local = Object.entries(readLocalSettings(appRoot).values);
  const chosen = {
    ...Object.fromEntries(local.filter(([name, value]) => value !== example[name])),
    ...given(environment),
  };
  const addresses = addressesOf(pieces);
  return {
    ...example,
    ...addresses,
    ...chosen,
    ...storage(chosen, pieces.connectionString),
    OUTBOUND_HOST_MAP: mergedMaps(addresses.OUTBOUND_HOST_MAP, chosen["OUTBOUND_HOST_MAP"]),
    OUTBOUND_ALLOW_CIDRS: [addresses.OUTBOUND_ALLOW_CIDRS, chosen["OUTBOUND_ALLOW_CIDRS"] ?? ""]
      .filter((ranges) => ranges !== "")
      .join(","),
  };
}

function addressesOf({ publicBaseUrl, connectionString, sandbox, mail, issuer }: Pieces) {
  const hosts = Object.fromEntries(sandbox.hosts.map((host) => [host, sandbox.url]));
  return {
    AzureWebJobsStorage: connectionString,
    PUBLIC_BASE_URL: publicBaseUrl,
    MAIL_URL: mail.url,
    MAIL_FROM: "relay@sandbox.test",
    OPERATOR_ISSUER: issuer.issuer,
    OPERATOR_AUDIENCE: issuer.audience,
    OPERATOR_JWKS_URL: issuer.jwksUrl,
    OUTBOUND_HOST_MAP: JSON.stringify({ ...hosts, [new URL(issuer.issuer).hostname]: issuer.url }),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
  };
}

function given(environment: NodeJS.ProcessEnv): Values {
  const entries = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

/** The shorthand means an emulator on its usual ports, and this run has its own. */
function storage(chosen: Values, connectionString: string): Values {
  const names = ["AzureWebJobsStorage", "DATA_STORAGE", "MEDIA_STORAGE"].filter((name) =>
    /^UseDevelopmentStorage=true;?$/i.test(chosen[name]?.trim() ?? ""),
  );
  return Object.fromEntries(names.map((name) => [name, connectionString]));
}

/** Stand-ins that the developer adds come beside the sandbox. What is no JSON is left for the app to complain about. */
function mergedMaps(sandbox: string, added: string | undefined): string {
  if (added === undefined) return sandbox;
  try {
    return JSON.stringify({
      ...(JSON.parse(sandbox) as object),
      ...(JSON.parse(added) as object),
    });
  } catch {
    return added;
  }
}
