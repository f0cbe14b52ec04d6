import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { SETTINGS } from "../../../src/shared/config/settings.ts";

const run = promisify(execFile);
const SCRIPT = resolve(import.meta.dirname, "../../../infra/tools/vault-secrets.ts");

/**
 * The Azure CLI's part in it: a vault with a file for each secret, what an app's settings are said to be, one file each
 * with a line for each time that it was told to look again, and a list of what was on its command lines. A shell, for it
 * is started more than a hundred times.
 */
const AZ = `#!/bin/sh
folder=\${0%/*}
echo "$*" >>"$folder/calls.txt"
fail() { echo "$1" >&2; exit 3; }
command="$1 $2" verb=$3
while [ $# -gt 0 ]; do
  case $1 in
    --name) name=$2 ;;
    --file) file=$2 ;;
    --uri) uri=$2 ;;
    --method) method=$2 ;;
    --vault-name) vault=$2 ;;
  esac
  shift
done
site=/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Web/sites/func-example/config/configreferences/appsettings
case "$command $uri" in
  "rest --method $site"*)
    [ "$method" = get ] || exit 0
    asked=$(grep -c -e "--method post" "$folder/calls.txt")
    for one in "$folder"/references/*; do
      status=$(head -n $((asked + 1)) "$one" | tail -n 1)
      all="$all\${all:+,}{\\"name\\":\\"\${one##*/}\\",\\"properties\\":{\\"status\\":\\"$status\\"}}"
    done
    echo "{\\"value\\":[$all]}"
    exit 0 ;;
  "functionapp restart "*) exit 0 ;;
esac
[ "$command $vault" = "keyvault secret kv-example" ] || fail "what?"
[ ! -e "$folder/broken-$verb" ] || fail ServiceUnavailable
read -r forbidden <"$folder/forbidden"
if [ "$forbidden" -gt 0 ]; then
  echo $((forbidden - 1)) >"$folder/forbidden"
  fail "(Forbidden) Caller is not authorized to perform action on resource."
fi
case "$verb $file" in
  "list "*) ls "$folder/secrets" ;;
  "show "*) cat "$folder/secrets/$name" 2>/dev/null || fail SecretNotFound ;;
  "set /dev/stdin") cat >"$folder/secrets/$name" ;;
  *) fail "what?" ;;
esac
`;

interface Vault {
  readonly secrets?: Readonly<Record<string, string>>;
  /** The statuses of a setting of the app, each once the app was told to look again. */
  readonly references?: Readonly<Record<string, readonly string[]>>;
  /** How many questions are refused before the right to ask arrives. */
  readonly forbidden?: number;
  /** What it has no answer to. */
  readonly broken?: "list";
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relay-vault-"));
  await writeFile(join(folder, "az"), AZ);
  await chmod(join(folder, "az"), 0o755);
  await fill({});
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function fill({
  secrets = {},
  references = {},
  forbidden = 0,
  broken,
}: Vault): Promise<void> {
  await writeFile(join(folder, "forbidden"), `${forbidden}\n`);
  if (broken !== undefined) await writeFile(join(folder, `broken-${broken}`), "");
  for (const [kind, files] of Object.entries({ secrets, references })) {
    await mkdir(join(folder, kind), { recursive: true });
    for (const [name, said] of Object.entries(files))
      await writeFile(join(folder, kind, name), [said].flat().join("\n"));
  }
}

/** What the vault holds. */
async function vault(): Promise<Record<string, string>> {
  const names = await readdir(join(folder, "secrets"));
  const read = (name: string) => readFile(join(folder, "secrets", name), "utf8");
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await read(name)] as const)),
  );
}

const APP = {
  AZURE_SUBSCRIPTION_ID: "sub",
  AZURE_RESOURCE_GROUP: "rg",
  AZURE_FUNCTION_APP_NAME: "func-example",
};

const secrets = (...args: readonly string[]) => secretsWith({}, ...args);

async function secretsWith(settings: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const PATH = `${folder}:${process.env["PATH"] ?? ""}`;
  const env = { PATH, AZURE_KEY_VAULT_NAME: "kv-example", VAULT_WAIT_SECONDS: "20", ...settings };
  try {
    const { stdout, stderr } = await run(process.execPath, [SCRIPT, ...args], { env });
    return { ok: true, output: stdout + stderr };
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return { ok: false, output: stdout + stderr };
  }
}

const keyIds = async () => Object.keys(JSON.parse((await vault())["data-keys"] ?? "{}") as object);

describe("making the secrets of a deployment", () => {
  test("makes what the app starts with", async () => {
    expect((await secrets("create")).ok).toBe(true);
    const made = await vault();
    const { identity } = parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Production",
      AzureWebJobsStorage__accountName: "sthostexample",
      PUBLIC_BASE_URL: "https://relay.example.com/api",
      SESSION_SECRET: made["session-secret"],
      GRANT_SECRET: made["grant-secret"],
      KEY_PEPPER: made["key-pepper"],
      DATA_KEYS: made["data-keys"],
      BLUESKY_OAUTH_KEY: made["bluesky-oauth-key"],
    });
    expect(identity.dataKeys.size).toBe(1);
    const blueskyKey = SETTINGS.BLUESKY_OAUTH_KEY?.schema().safeParse(made["bluesky-oauth-key"]);
    expect(blueskyKey?.success).toBe(true);
    expect(new Set(Object.values(made)).size).toBe(5);
  });

  test("leaves alone what is there", async () => {
    await fill({ secrets: { "key-pepper": "the one that every hash was made with" } });
    await secrets("create");
    const first = await vault();
    await secrets("create");
    expect(await vault()).toEqual(first);
    expect(first["key-pepper"]).toBe("the one that every hash was made with");
  });

  test("makes nothing where the vault does not say what it has", async () => {
    await fill({ broken: "list" });
    expect((await secrets("create")).ok).toBe(false);
    expect(await vault()).toEqual({});
  });

  test("shows no secret, neither on the screen nor on a command line", async () => {
    const { output } = await secrets("create");
    await secrets("prepare", "session-secret");
    await secrets("switch", "session-secret");
    const seen = output + (await readFile(join(folder, "calls.txt"), "utf8"));
    for (const value of Object.values(await vault())) expect(seen).not.toContain(value);
  });
});

describe("a first deployment", () => {
  test("waits for the right to write secrets, which takes minutes to arrive", async () => {
    await fill({ forbidden: 3 });
    const { ok, output } = await secrets("create");
    expect(ok, output).toBe(true);
    expect(output).toContain("waiting for the right to write secrets");
    expect(await vault()).toHaveProperty("key-pepper");
  });

  test("says so when the right does not arrive", async () => {
    await fill({ forbidden: 1_000_000 });
    const { ok, output } = await secretsWith({ VAULT_WAIT_SECONDS: "0" }, "create");
    expect(ok).toBe(false);
    expect(output).toContain("(Forbidden)");
  });

  test("ends with an app that has all its secrets, looked up before there were any", async () => {
    const references = { KEY_PEPPER: ["SecretNotFound", "AccessToKeyVaultDenied", "Resolved"] };
    await fill({ references });
    const { ok, output } = await secretsWith(APP, "create");
    expect(ok, output).toBe(true);
    expect(await callsTo("/refresh")).toBe(2);
  });

  test("waits while the app has not looked again since the secrets were made", async () => {
    const references = { KEY_PEPPER: ["SecretNotFound", "SecretNotFound", "Resolved"] };
    await fill({ references });
    const { ok, output } = await secretsWith(APP, "create");
    expect(ok, output).toBe(true);
    expect(await callsTo("/refresh")).toBe(2);
  });

  test("names a setting whose secret nobody has put into the vault", async () => {
    await fill({
      references: { KEY_PEPPER: ["Resolved"], FACEBOOK_APP_SECRET: ["SecretNotFound"] },
    });
    const { ok, output } = await secretsWith(APP, "create");
    expect(ok).toBe(false);
    expect(output).toContain("FACEBOOK_APP_SECRET: SecretNotFound");
    expect(output).not.toContain("KEY_PEPPER: Resolved");
  });

  test("leaves alone an app that has them all", async () => {
    await fill({ references: { KEY_PEPPER: ["Resolved"] } });
    expect((await secretsWith(APP, "create")).ok).toBe(true);
    expect(await callsTo("/refresh")).toBe(0);
  });
});

const callsTo = async (what: string) =>
  (await readFile(join(folder, "calls.txt"), "utf8")).split(what).length - 1;

describe("rotating", () => {
  test("rotating has the app read the vault again and restart", async () => {
    await fill({ references: { KEY_PEPPER: ["Resolved", "FetchTimedOut", "Resolved"] } });
    const { ok, output } = await secretsWith(APP, "refresh");
    expect(ok, output).toBe(true);
    expect(await callsTo("/refresh")).toBe(2);
    expect(await callsTo("functionapp restart --subscription sub")).toBe(1);
    expect((await secrets("refresh")).ok).toBe(false);
  });

  test.each(["session-secret", "grant-secret", "key-pepper"])(
    "%s has both accepted before one takes the place of the other, and after",
    async (name) => {
      await secrets("create");
      const old = (await vault())[name];
      expect((await secrets("prepare", name)).ok).toBe(true);
      const prepared = await vault();
      expect(prepared[name]).toBe(old);
      expect((await secrets("switch", name)).ok).toBe(true);
      const switched = await vault();
      expect(switched[name]).toBe(prepared[`${name}-previous`]);
      expect(switched[name]).not.toBe(old);
      expect(switched[`${name}-previous`]).toBe(old);
    },
  );

  test("switches nothing that was not prepared", async () => {
    await secrets("create");
    const before = await vault();
    expect((await secrets("switch", "session-secret")).ok).toBe(false);
    expect(await vault()).toEqual(before);
  });

  test("data keys opens with a new one before it seals with it, and keeps the others", async () => {
    await secrets("create");
    const [first] = await keyIds();
    await secrets("prepare", "data-keys");
    const prepared = await keyIds();
    expect(prepared).toEqual([first, expect.stringMatching(/^k\d{8}-/)]);
    await secrets("switch", "data-keys");
    expect(await keyIds()).toEqual(prepared.toReversed());
  });

  test("takes out a data key that is named, and never the one that seals", async () => {
    await secrets("create");
    await secrets("prepare", "data-keys");
    await secrets("switch", "data-keys");
    const [sealing = "", old = ""] = await keyIds();
    expect((await secrets("retire", "data-keys", sealing)).ok).toBe(false);
    expect((await secrets("retire", "data-keys", "k1")).ok).toBe(false);
    expect((await secrets("retire", "data-keys", old)).ok).toBe(true);
    expect(await keyIds()).toEqual([sealing]);
  });

  test.each([[["prepare", "facebook-app-secret"]], [["delete"]], [[]], [["create", "more"]]])(
    "%s is explained, not guessed at",
    async (args) => {
      const { ok, output } = await secrets(...args);
      expect(ok).toBe(false);
      expect(output).toContain("usage: node infra/tools/vault-secrets.ts");
    },
  );
});
