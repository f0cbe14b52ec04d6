import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { SETTINGS } from "../../../src/shared/config/settings.ts";

const run = promisify(execFile);
const SCRIPT = resolve(import.meta.dirname, "../../../infra/tools/vault-secrets.ts");

/** The Azure CLI's part in it: a vault in a JSON file, and a list of what was on its command lines. */
const AZ = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const [, , ...args] = process.argv;
const folder = __dirname;
appendFileSync(folder + "/calls.txt", args.join(" ") + "\\n");
const vault = JSON.parse(readFileSync(folder + "/vault.json", "utf8"));
const option = (name) => args[args.indexOf(name) + 1];
const fail = (text) => { console.error(text); process.exit(3); };
const site = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Web/sites/func-example/config/configreferences/appsettings";
if (args[0] === "rest" && option("--uri").startsWith(site)) {
  const asked = readFileSync(folder + "/calls.txt", "utf8").split("--method post").length - 1;
  if (option("--method") === "get")
    console.log(JSON.stringify({ value: Object.entries(vault.references).map(([name, statuses]) =>
      ({ name, properties: { status: statuses[Math.min(asked, statuses.length - 1)] } })) }));
  process.exit(0);
}
if (args[0] === "functionapp" && args[1] === "restart") process.exit(0);
if (args[0] !== "keyvault" || args[1] !== "secret" || option("--vault-name") !== "kv-example") fail("what?");
if (vault.broken === args[2]) fail("ServiceUnavailable");
if (vault.forbidden > 0) {
  vault.forbidden -= 1;
  writeFileSync(folder + "/vault.json", JSON.stringify(vault));
  fail("(Forbidden) Caller is not authorized to perform action on resource.");
}
const name = option("--name");
if (args[2] === "list") console.log(Object.keys(vault).join("\\n"));
else if (args[2] === "show") console.log(vault[name] ?? fail("SecretNotFound"));
else if (args[2] === "set" && option("--file") === "/dev/stdin") {
  vault[name] = readFileSync(0, "utf8");
  writeFileSync(folder + "/vault.json", JSON.stringify(vault));
} else fail("what?");
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relay-vault-"));
  await writeFile(join(folder, "package.json"), "{}");
  await writeFile(join(folder, "az"), AZ);
  await chmod(join(folder, "az"), 0o755);
  await fill({});
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const fill = (vault: object) => writeFile(join(folder, "vault.json"), JSON.stringify(vault));
const vault = async () =>
  JSON.parse(await readFile(join(folder, "vault.json"), "utf8")) as Record<string, string>;

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
    await fill({ "key-pepper": "the one that every hash was made with" });
    await secrets("create");
    const first = await vault();
    await secrets("create");
    expect(await vault()).toEqual(first);
    expect(first["key-pepper"]).toBe("the one that every hash was made with");
  });

  test("makes nothing where the vault does not say what it has", async () => {
    await fill({ broken: "list" });
    expect((await secrets("create")).ok).toBe(false);
    expect(await vault()).toEqual({ broken: "list" });
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
