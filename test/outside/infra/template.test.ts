import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { SNAPSHOTS } from "../../../infra/tools/check-infra.ts";
import { queues } from "../../../src/functions/manifest.ts";
import { timers } from "../../../src/functions/timers.ts";
import { workers } from "../../../src/functions/workers.ts";
import { ofType, onlyOne, readSnapshot, type Resource } from "./snapshot.ts";

const ROLE = "Microsoft.Authorization/roleAssignments";
const SITE = "Microsoft.Web/sites";
const STORAGE = "Microsoft.Storage/storageAccounts";
const VAULT = "Microsoft.KeyVault/vaults";
const SUBNET = "Microsoft.Network/virtualNetworks/subnets";

const [small, large, everyOption] = ["small", "large", "every-option"].map(readSnapshot) as [
  readonly Resource[],
  readonly Resource[],
  readonly Resource[],
];

/** Built-in roles; https://learn.microsoft.com/azure/role-based-access-control/built-in-roles */
const ROLES: Readonly<Record<string, string>> = {
  "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
  "ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor",
  "974c5e8b-45b9-4653-ba55-5f855dd0fb88": "Storage Queue Data Contributor",
  "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": "Storage Table Data Contributor",
  "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
  "b86a8fe4-44ce-4948-aee5-eccb2c155cd7": "Key Vault Secrets Officer",
  "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
};

/** `resource: role`, for each assignment. */
function granted(resources: readonly Resource[]): string[] {
  return ofType(resources, ROLE).map(({ id, properties }) => {
    const on = id
      .split("/providers/")
      .at(-2)
      ?.split("/")
      .at(-1)
      ?.replace(/-?\w{13}$/, "");
    const role = String(properties.roleDefinitionId).split("/").at(-1) ?? "";
    return `${on}: ${ROLES[role] ?? role}`;
  });
}

describe("what the deployment grants", () => {
  const appRoles = [
    "sthost: Storage Blob Data Owner",
    "sthost: Storage Queue Data Contributor",
    "sthost: Storage Table Data Contributor",
    "stdata: Storage Table Data Contributor",
    "stmedia: Storage Blob Data Contributor",
    "appi: Monitoring Metrics Publisher",
    "kv: Key Vault Secrets User",
  ];

  test("what the deployment grants is these roles and no other", () => {
    expect(granted(small).toSorted()).toEqual(appRoles.toSorted());
    expect(granted(large).toSorted()).toEqual(appRoles.toSorted());
    const withDeployer = [...appRoles, "kv: Key Vault Secrets Officer"];
    expect(granted(everyOption).toSorted()).toEqual(withDeployer.toSorted());
  });

  test.each(SNAPSHOTS)("what is granted is known before %s is deployed", (name) => {
    for (const { id } of ofType(readSnapshot(name), ROLE)) expect(id).not.toContain("[");
  });
});

describe.each([
  ["small", small],
  ["large", large],
  ["every option", everyOption],
] as const)("%s", (_name, resources) => {
  const site = onlyOne(resources, SITE).properties;
  const accounts = ofType(resources, STORAGE);

  test("the storage takes no shared key, shows no blobs and speaks TLS 1.2 over HTTPS", () => {
    expect(accounts).toHaveLength(3);
    for (const { properties } of accounts)
      expect(properties).toMatchObject({
        allowSharedKeyAccess: false,
        allowBlobPublicAccess: false,
        minimumTlsVersion: "TLS1_2",
        supportsHttpsTrafficOnly: true,
      });
  });

  test("the app is on Flex Consumption and Node 24, and speaks HTTPS alone", () => {
    expect(onlyOne(resources, "Microsoft.Web/serverfarms")).toMatchObject({
      sku: { name: "FC1", tier: "FlexConsumption" },
    });
    expect(site).toMatchObject({ httpsOnly: true, siteConfig: { minTlsVersion: "1.2" } });
    expect(site.functionAppConfig.runtime).toEqual({ name: "node", version: "24" });
  });

  test("says nothing about FTP, which Flex Consumption refuses in some regions", () => {
    expect(site.siteConfig).not.toHaveProperty("ftpsState");
  });

  test("takes no password for deployments", () => {
    const policies = ofType(resources, "Microsoft.Web/sites/basicPublishingCredentialsPolicies");
    expect(policies.map(({ properties }) => properties)).toEqual([
      { allow: false },
      { allow: false },
    ]);
  });

  test("the vault goes by roles and can't be purged", () => {
    expect(onlyOne(resources, VAULT).properties).toMatchObject({
      enableRbacAuthorization: true,
      enableSoftDelete: true,
      enablePurgeProtection: true,
    });
  });

  test("telemetry takes no key", () => {
    const insights = onlyOne(resources, "Microsoft.Insights/components");
    expect(insights.properties.DisableLocalAuth).toBe(true);
  });

  test("keeps no function awake that does not exist", () => {
    const { alwaysReady } = site.functionAppConfig.scaleAndConcurrency;
    const names = [...workers.map(({ queue }) => queue), ...timers.map(({ name }) => name)];
    const known = names.map((name) => `function:${name}`);
    for (const { name } of alwaysReady) expect(["http", ...known]).toContain(name);
  });

  test("a deployment has every queue that the host asks", () => {
    const made = ofType(resources, "Microsoft.Storage/storageAccounts/queueServices/queues");
    const prefix = resources === everyOption ? "tuned" : "";
    expect(made.map(({ name }) => name.split("/").slice(-1).join()).toSorted()).toEqual(
      queues.map((queue) => prefix + queue).toSorted(),
    );
    for (const { name } of made) expect(name).toMatch(/^sthost/);
  });

  test("the files of customers are in one container, which pages of any origin may upload to", () => {
    const [container] = ofType(
      resources,
      "Microsoft.Storage/storageAccounts/blobServices/containers",
    ).filter(({ name }) => name.startsWith("stmedia"));
    expect(container).toMatchObject({
      name: expect.stringMatching(/\/default\/media$/),
      properties: { publicAccess: "None" },
    });
    const [service] = ofType(resources, "Microsoft.Storage/storageAccounts/blobServices").filter(
      ({ name }) => name.startsWith("stmedia"),
    );
    expect(service?.properties).toMatchObject({
      deleteRetentionPolicy: { enabled: false },
      cors: {
        corsRules: [
          {
            allowedOrigins: ["*"],
            allowedMethods: ["PUT"],
            allowedHeaders: ["x-ms-blob-type", "content-type", "content-length"],
          },
        ],
      },
    });
  });

  test("no file of a customer outlives the longest time that one is kept", () => {
    const policy = onlyOne(resources, "Microsoft.Storage/storageAccounts/managementPolicies");
    expect(policy.name).toMatch(/^stmedia/);
    expect(JSON.stringify(policy.properties)).toContain('"daysAfterCreationGreaterThan":380');
  });

  test("asks nobody for an account's keys", () => {
    expect(JSON.stringify(resources)).not.toMatch(/listKeys|AccountKey=/);
  });
});

test.each(SNAPSHOTS)("%s is deployed to the public cloud, and refused by any other", (name) => {
  const group = onlyOne(readSnapshot(name), "Microsoft.Resources/resourceGroups");
  expect(group.location).toMatch(
    /^\[if\(equals\(environment\(\)\.name, 'AzureCloud'\), parameters\('location'\), fail\(format\('The relay runs in the public Azure cloud only, not in \{0\}\.', environment\(\)\.name\)\)\)\]$/,
  );
});

test("two deployments, a large one and a small one, fit into a region's quota of memory", () => {
  const megabytes = [small, large].map((resources) => {
    const { scaleAndConcurrency } = onlyOne(resources, SITE).properties.functionAppConfig;
    return scaleAndConcurrency.maximumInstanceCount * scaleAndConcurrency.instanceMemoryMB;
  });
  expect(megabytes.reduce((sum, own) => sum + own, 0)).toBeLessThanOrEqual(512_000);
});

describe("options", () => {
  const siteOf = (resources: readonly Resource[]) => onlyOne(resources, SITE).properties;

  test("the network is public unless something else is asked for", () => {
    expect(siteOf(small).virtualNetworkSubnetId).toBeNull();
    expect(small.filter(({ type }) => type.startsWith("Microsoft.Network/"))).toEqual([]);
    for (const { properties } of ofType(small, STORAGE))
      expect(properties.publicNetworkAccess).toBe("Enabled");
  });

  test("no page of another origin may call the app unless it is named, and none with a browser's credentials", () => {
    expect(siteOf(small).siteConfig.cors).toEqual({
      allowedOrigins: [],
      supportCredentials: false,
    });
    expect(siteOf(everyOption).siteConfig.cors).toEqual({
      allowedOrigins: ["https://dashboard.example.com", "https://staging.example.com:8443"],
      supportCredentials: false,
    });
  });

  test("a private one closes the accounts to the internet and lets the app reach all of them", () => {
    for (const { name, properties } of ofType(everyOption, STORAGE)) {
      // Browsers and networks have to reach the files of customers, by signed addresses.
      const isOpen = name.startsWith("stmedia");
      expect(properties).toMatchObject({
        publicNetworkAccess: isOpen ? "Enabled" : "Disabled",
        networkAcls: { defaultAction: isOpen ? "Allow" : "Deny" },
      });
    }
    const endpoints = ofType(everyOption, "Microsoft.Network/privateEndpoints").map(({ name }) =>
      name.replace(/-?\w{13}-/, " "),
    );
    expect(endpoints.toSorted()).toEqual([
      "pe-kv vault",
      "pe-stdata table",
      "pe-sthost blob",
      "pe-sthost queue",
      "pe-sthost table",
    ]);
    expect(siteOf(everyOption).virtualNetworkSubnetId).toMatch(/\/subnets\/app$/);
  });

  test("a private vault takes secrets from the addresses of those who deploy, and from no other", () => {
    expect(onlyOne(everyOption, VAULT).properties.networkAcls).toEqual({
      defaultAction: "Deny",
      bypass: "AzureServices",
      ipRules: [{ value: "203.0.113.7" }],
    });
  });

  test("all calls of the app leave by one address", () => {
    const app = ofType(everyOption, SUBNET).find(({ name }) => name.endsWith("/app"));
    expect(app?.properties).toMatchObject({
      natGateway: { id: expect.stringContaining("/natGateways/") },
      delegations: [{ properties: { serviceName: "Microsoft.App/environments" } }],
    });
    expect(siteOf(everyOption).outboundVnetRouting).toEqual({ allTraffic: true });
  });

  test("a front door is the only one that gets in, and deployments still do", () => {
    expect(siteOf(everyOption).siteConfig).toMatchObject({
      ipSecurityRestrictionsDefaultAction: "Deny",
      ipSecurityRestrictions: [
        {
          action: "Allow",
          ipAddress: "AzureFrontDoor.Backend",
          headers: { "x-azure-fdid": ["22222222-2222-2222-2222-222222222222"] },
        },
      ],
      scmIpSecurityRestrictionsUseMain: false,
    });
    expect(siteOf(small).siteConfig.ipSecurityRestrictions).toEqual([]);
  });

  test("the certificate of a domain belongs to the app", () => {
    const certificate = onlyOne(everyOption, "Microsoft.Web/sites/certificates");
    expect(certificate.name).toMatch(/^func-relay-\w+\/relay-example-com$/);
  });
});

test("azd hands over every parameter that there is", () => {
  const read = (path: string) =>
    readFileSync(resolve(import.meta.dirname, "../../../infra", path), "utf8");
  const named = (text: string) =>
    [...text.matchAll(/^param (\w+)/gm)].map(([, name = ""]) => name).toSorted();
  expect(named(read("main.bicepparam"))).toEqual(named(read("main.bicep")));
  expect(named(read("every-option.bicepparam"))).toEqual(named(read("main.bicep")));
  const settable = [...read("main.bicepparam").matchAll(/'(RELAY_\w+)'/g)].map(([, name]) => name);
  const guide = readFileSync(
    resolve(import.meta.dirname, "../../../docs/operate/configure.md"),
    "utf8",
  );
  expect(settable.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
