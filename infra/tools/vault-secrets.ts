import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { askPatiently, az, AzFailure } from "./az.ts";
import { appOf, refresh, resolveReferences } from "./vault-references.ts";

/**
 * The deployment's secrets in its Key Vault, made and rotated through the Azure CLI. Values travel by stdin and stdout
 * of that alone: never on a command line, never in a file, never on the screen.
 */

/** What the app reads as one text. */
const TEXT_SECRETS = ["session-secret", "grant-secret", "key-pepper"] as const;
const DATA_KEYS = "data-keys";
const BLUESKY_KEY = "bluesky-oauth-key";
const DATA_KEYS_MAX = 8;

const USAGE = `usage: node infra/tools/vault-secrets.ts <command>, with AZURE_KEY_VAULT_NAME set
  create                         makes the secrets that are missing; leaves the others alone, and waits for the app to
                                 have them all where AZURE_FUNCTION_APP_NAME says which it is
  prepare <name>                 makes the next one, to be accepted beside the one in use
  switch <name>                  puts the prepared one in use; the other one is still accepted
  retire ${DATA_KEYS} <key id>     takes out a key with which nothing is sealed any more
  refresh                        has the app read the vault again, and restarts it
names: ${[...TEXT_SECRETS, DATA_KEYS].join(", ")}`;

interface Vault {
  names(): Promise<readonly string[]>;
  read(name: string): Promise<string>;
  write(name: string, value: string): Promise<void>;
}

function openVault(vaultName: string): Vault {
  const secret = (verb: string, ...rest: readonly string[]) => [
    "keyvault",
    "secret",
    verb,
    "--vault-name",
    vaultName,
    ...rest,
  ];
  return {
    // One list and not one question per name: an answer that fails must not look like a secret that is missing.
    async names() {
      const listed = await az(secret("list", "--query", "[].name", "--output", "tsv"));
      return listed.split(/\s+/).filter(Boolean);
    },
    read: (name) => az(secret("show", "--name", name, "--query", "value", "--output", "tsv")),
    async write(name, value) {
      const file = ["--file", "/dev/stdin", "--encoding", "utf-8"];
      await az(secret("set", "--name", name, ...file, "--output", "none"), value);
    },
  };
}

const newText = () => randomBytes(48).toString("base64url");

type DataKeys = Readonly<Record<string, string>>;

/** The first key seals, all open. */
function withNewDataKey(keys: DataKeys, now: Date): string {
  // Not digits alone: an object sorts such names to its front, whatever was put there.
  const day = `k${now.toISOString().slice(0, 10).replaceAll("-", "")}`;
  const id = day in keys ? `${day}-${randomBytes(2).toString("hex")}` : day;
  const all = { ...keys, [id]: randomBytes(32).toString("base64") };
  if (Object.keys(all).length > DATA_KEYS_MAX)
    throw new Error(`there are ${DATA_KEYS_MAX} data keys: retire those that seal nothing first`);
  return JSON.stringify(all);
}

function withLastFirst(keys: DataKeys): string {
  const last = Object.entries(keys).at(-1);
  return JSON.stringify({ ...Object.fromEntries(last === undefined ? [] : [last]), ...keys });
}

function newBlueskyKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return JSON.stringify({
    ...privateKey.export({ format: "jwk" }),
    kid: randomUUID(),
    alg: "ES256",
  });
}

const readDataKeys = async (vault: Vault) => JSON.parse(await vault.read(DATA_KEYS)) as DataKeys;

/** The right to see them may have been given a moment ago. */
async function presentSecrets(vault: Vault): Promise<readonly string[]> {
  let refusal: unknown;
  const names = await askPatiently("the right to write secrets", async () => {
    try {
      return await vault.names();
    } catch (error) {
      if (!(error instanceof AzFailure && error.isForbidden)) throw error;
      refusal = error;
      return undefined;
    }
  });
  if (names === undefined) throw refusal;
  return names;
}

async function create(vault: Vault, now: Date): Promise<void> {
  const present = await presentSecrets(vault);
  const makers: Readonly<Record<string, () => string>> = {
    ...Object.fromEntries(TEXT_SECRETS.map((name) => [name, newText])),
    [DATA_KEYS]: () => withNewDataKey({}, now),
    [BLUESKY_KEY]: newBlueskyKey,
  };
  for (const [name, make] of Object.entries(makers)) {
    if (present.includes(name)) {
      console.log(`${name}: is there`);
      continue;
    }
    await vault.write(name, make());
    console.log(`${name}: made`);
  }
  const app = appOf(process.env);
  if (app !== undefined) await resolveReferences(app);
}

async function readVaultAnew(): Promise<void> {
  const app = appOf(process.env);
  if (app === undefined)
    throw new Error(
      "set AZURE_SUBSCRIPTION_ID, AZURE_RESOURCE_GROUP and AZURE_FUNCTION_APP_NAME, as azd has them",
    );
  await refresh(app);
  console.log("the app has read the vault and starts again");
}

function requireText(name: string): void {
  if (!TEXT_SECRETS.some((known) => known === name)) throw new Error(USAGE);
}

/** The app accepts `<name>-previous` beside the one in use, whichever of the two is the older. */
async function prepare(vault: Vault, name: string, now: Date): Promise<void> {
  if (name === DATA_KEYS) {
    await vault.write(name, withNewDataKey(await readDataKeys(vault), now));
  } else {
    requireText(name);
    await vault.write(`${name}-previous`, newText());
  }
  console.log(`${name}: prepared; docs/operate/secrets.md has the next steps`);
}

async function switchOver(vault: Vault, name: string): Promise<void> {
  if (name === DATA_KEYS) {
    await vault.write(name, withLastFirst(await readDataKeys(vault)));
  } else {
    requireText(name);
    const [inUse, prepared] = [await vault.read(name), await vault.read(`${name}-previous`)];
    if (inUse === prepared)
      throw new Error(`${name} and ${name}-previous are the same: prepare first`);
    // In this order: a crash in between leaves the one in use twice, and another one can be prepared.
    await vault.write(`${name}-previous`, inUse);
    await vault.write(name, prepared);
  }
  console.log(`${name}: switched; docs/operate/secrets.md has the next steps`);
}

async function retire(vault: Vault, name: string, keyId: string): Promise<void> {
  if (name !== DATA_KEYS) throw new Error(USAGE);
  const keys = await readDataKeys(vault);
  const [sealing] = Object.keys(keys);
  if (!(keyId in keys)) throw new Error(`there is no data key ${keyId}`);
  if (keyId === sealing) throw new Error(`${keyId} is the key that seals: switch first`);
  const { [keyId]: _retired, ...rest } = keys;
  await vault.write(DATA_KEYS, JSON.stringify(rest));
  console.log(`${keyId}: retired`);
}

type Command = (vault: Vault, args: readonly [string, string], now: Date) => Promise<void>;

/** Each with how many words follow it. */
const COMMANDS: Readonly<Record<string, { readonly words: number; readonly run: Command }>> = {
  create: { words: 0, run: (vault, _args, now) => create(vault, now) },
  refresh: { words: 0, run: readVaultAnew },
  prepare: { words: 1, run: (vault, [name], now) => prepare(vault, name, now) },
  switch: { words: 1, run: (vault, [name]) => switchOver(vault, name) },
  retire: { words: 2, run: (vault, [name, keyId]) => retire(vault, name, keyId) },
};

async function main(): Promise<void> {
  const [name = "", ...rest] = process.argv.slice(2);
  const vaultName = process.env["AZURE_KEY_VAULT_NAME"] ?? "";
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (vaultName === "" || command?.words !== rest.length) throw new Error(USAGE);
  const [first = "", second = ""] = rest;
  await command.run(openVault(vaultName), [first, second], new Date());
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
