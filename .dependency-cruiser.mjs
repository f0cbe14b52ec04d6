const DOMAINS =
  "accounts|applications|keys|profiles|posts|networks|connect|media|billing|webhooks|audit|limits|callers|erasure|upkeep";
const domain = `^src/shared/(${DOMAINS})/`;

/** What each domain folder may import of the others; `callers` is open to all, `accounts` may read all. */
const ALLOWED = {
  posts: ["networks", "connect", "media", "billing", "webhooks", "audit", "profiles"],
  connect: ["networks", "media", "billing", "profiles", "webhooks", "audit"],
  webhooks: ["networks", "billing", "audit"],
  accounts: [
    "applications",
    "keys",
    "profiles",
    "connect",
    "billing",
    "webhooks",
    "audit",
    "limits",
  ],
  applications: ["keys", "audit"],
  upkeep: ["accounts", "connect", "networks"],
  erasure: ["posts", "connect", "webhooks", "profiles", "audit"],
  keys: ["profiles", "audit"],
  profiles: ["audit"],
  billing: ["networks", "webhooks", "audit"],
  networks: [],
  media: ["networks"],
  audit: [],
  limits: [],
  callers: [],
};

const betweenDomains = Object.entries(ALLOWED).map(([from, to]) => ({
  name: `domain-${from}`,
  comment: `${from} may import only: ${[...to, "callers"].join(", ")}`,
  severity: "error",
  from: { path: `^src/shared/${from}/` },
  to: { path: domain, pathNot: `^src/shared/(${[from, "callers", ...to].join("|")})/` },
}));

export default {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "shared-not-functions",
      severity: "error",
      from: { path: "^src/shared/" },
      to: { path: "^src/(functions/|main)" },
    },
    {
      name: "domain-not-http",
      severity: "error",
      from: { path: domain },
      to: { path: "^src/shared/http/" },
    },
    {
      name: "azure-packages-at-the-edge",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main\\.ts|shared/(http|storage)/)" },
      to: { path: "node_modules/@azure/" },
    },
    {
      name: "storage-behind-stores",
      comment: "only stores, queues and the composition know storage",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: "^src/(main\\.ts|shared/(storage/|services\\.ts|.*-(store|queue)\\.ts))",
      },
      to: { path: "^src/shared/storage/", pathNot: "^src/shared/storage/row\\.ts$" },
    },
    {
      name: "networks-by-argument",
      comment:
        "a network imports network.ts, errors.ts, setting.ts, shape.ts, its own files and those it shares with a network of the same API; HTTP is handed to it",
      severity: "error",
      from: { path: "^src/shared/networks/([^/]+)/" },
      to: {
        path: "^src/shared/",
        pathNot:
          "^src/shared/(networks/($1/|graph/|[^/]+\\.ts$)|errors\\.ts$|setting\\.ts$|shape\\.ts$)",
      },
    },
    {
      name: "graph-for-its-networks",
      comment: "graph/ is what the two networks with the Graph API share",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/shared/networks/(facebook|instagram|graph)/" },
      to: { path: "^src/shared/networks/graph/" },
    },
    {
      name: "src-stands-alone",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(dev|test|bench)/" },
    },
    ...betweenDomains,
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
  },
};
