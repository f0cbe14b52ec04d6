import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { findBicep, installedBicep, runBicep, type BicepRun } from "../../infra/tools/bicep.ts";
import { checkBroken, type Break } from "../outside/infra/broken-infra.ts";

const COMPILE_MS_MAX = 300_000;

const REFUSED: readonly (readonly [what: string, broken: Break, rule: string])[] = [
  [
    "what a strict rule refuses",
    ["modules/workbook.bicep", "@2023-06-01", "@2022-04-01"],
    "use-recent-api-versions",
  ],
  [
    "a name that a deployment alone can tell",
    ["modules/key-vault.bicep", "vault.id, identityName", "vault.id, principalId"],
    "what-if-short-circuiting",
  ],
  [
    "a property that no resource has",
    ["modules/function-app.bicep", "httpsOnly: true", "httpsAlone: true"],
    "BCP037",
  ],
  [
    "a setting that is told to nobody any more",
    ["settings.bicep", "  LOG_LEVEL: string?\n", ""],
    "LOG_LEVEL",
  ],
  ["a value of another type", ["small.bicepparam", "size = 'small'", "size = 'tiny'"], "BCP033"],
];

/** Compiles what azd hands over. */
async function build(variables: Readonly<Record<string, string>>): Promise<BicepRun> {
  const args = ["build-params", "main.bicepparam", "--stdout"];
  const env = { AZURE_ENV_NAME: "production", AZURE_LOCATION: "westeurope", ...variables };
  return runBicep(await findBicep(), args, { cwd: resolve("infra"), env });
}

describe.skipIf(installedBicep() === undefined)("the check of the templates", () => {
  test.each(REFUSED)(
    "finds %s",
    async (_what, broken, rule) => {
      expect((await checkBroken(broken)).join("\n")).toContain(rule);
    },
    COMPILE_MS_MAX,
  );

  test(
    "finds a snapshot that is not current, and a file that is not formatted",
    async () => {
      const [snapshot, format, ...others] = await checkBroken(
        ["large.snapshot.json", '"Standard_GZRS"', '"Standard_ZRS"'],
        ["modules/identity.bicep", "name: name", "name:    name"],
      );
      expect(snapshot).toMatch(/^large\.snapshot\.json is not current/);
      expect(format).toBe("modules/identity.bicep is not formatted");
      expect(others).toEqual([]);
    },
    COMPILE_MS_MAX,
  );

  test.each([
    [{ RELAY_SIZE: "tiny" }, "'large' | 'small'"],
    [{ RELAY_NETWORK: "closed" }, "'egress' | 'private' | 'public'"],
    [{ RELAY_TUNING: '{"NOBODY_READS":"1"}' }, "NOBODY_READS"],
    [{ RELAY_PREVIOUS_SECRETS: "DATA_KEYS" }, "DATA_KEYS"],
    [{ RELAY_ALLOW_SIGNUP: "perhaps" }, "allowSignup"],
    [{ RELAY_FRONT_DOOR_ID: "some-id" }, "RELAY_FRONT_DOOR_ID needs RELAY_DOMAIN"],
    [{ RELAY_CORS_ORIGINS: "*" }, "RELAY_CORS_ORIGINS accepts origins"],
    [
      { RELAY_CORS_ORIGINS: "https://a.example.com,https://b.example.com/" },
      "not https://b.example.com/",
    ],
    [{ RELAY_CORS_ORIGINS: "http://a.example.com" }, "not http://a.example.com"],
  ])(
    "finds what azd hands over and the template does not take: %o",
    async (variables, reason) => {
      const built = await build(variables);
      expect(built.ok).toBe(false);
      expect(built.said).toContain(reason);
    },
    COMPILE_MS_MAX,
  );

  test(
    "takes a front door with the domain that customers know",
    async () => {
      const variables = { RELAY_FRONT_DOOR_ID: "some-id", RELAY_DOMAIN: "relay.example.com" };
      const { ok, said } = await build(variables);
      expect(ok, said).toBe(true);
      expect(said).toContain("some-id");
    },
    COMPILE_MS_MAX,
  );

  test(
    "takes origins whose pages may call the app",
    async () => {
      const origins = "https://a.example.com,https://b.example.com:8443";
      const { ok, said } = await build({ RELAY_CORS_ORIGINS: origins });
      expect(ok, said).toBe(true);
      for (const origin of origins.split(",")) expect(said).toContain(origin);
    },
    COMPILE_MS_MAX,
  );

  test(
    "shows that an address of its own adds a network and changes nothing but the app",
    async () => {
      const size = "param size = 'small'";
      const [changed = "", ...others] = await checkBroken([
        "small.bicepparam",
        size,
        `${size}\nparam network = 'egress'`,
      ]);
      expect(others).toEqual([]);
      const types = changed
        .split("\n")
        .flatMap((line) => /\/providers\/(.+)$/.exec(line)?.[1] ?? [])
        .map((path) => path.split("/"))
        .map(([provider, ...rest]) =>
          [provider, ...rest.filter((_, at) => at % 2 === 0)].join("/"),
        );
      expect(types.toSorted()).toEqual([
        "Microsoft.Network/natGateways",
        "Microsoft.Network/publicIPAddresses",
        "Microsoft.Network/virtualNetworks",
        "Microsoft.Network/virtualNetworks/subnets",
        "Microsoft.Web/sites",
      ]);
    },
    COMPILE_MS_MAX,
  );
});
