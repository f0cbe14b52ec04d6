/**
 * The folders of `src/shared`, from the top down: each imports what stands below it and nothing above. `compose.ts`
 * stands over all of them, and only what runs the app imports it.
 */
export const FOLDERS = [
  "http",
  "background",
  "tenants",
  "publishing",
  "connections",
  "webhooks",
  "billing",
  "media",
  "limits",
  "wake",
  "networks",
  "audit",
  "callers",
  "runtime",
];

/** The two arrows that run up: the settings of a network are read with all others, and a wallet tells events. */
const UP = {
  runtime: "^src/shared/networks/(names|contract/settings)\\.ts$",
  billing: "^src/shared/webhooks/events/event\\.ts$",
};
const UP_FROM = {
  runtime: "^src/shared/runtime/(config|settings)\\.ts$",
  billing: "^src/shared/billing/alerts\\.ts$",
};

const downwards = FOLDERS.flatMap((folder, index) => {
  const above = FOLDERS.slice(0, index).join("|");
  if (above === "") return [];
  const rule = (name, from, to) => ({
    name,
    comment: `${folder} imports nothing of: ${FOLDERS.slice(0, index).join(", ")}`,
    severity: "error",
    from,
    to: { path: `^src/shared/(${above})/`, ...to },
  });
  const own = `^src/shared/${folder}/`;
  const exception = UP_FROM[folder];
  if (exception === undefined) return [rule(`below-${folder}`, { path: own }, {})];
  return [
    rule(`below-${folder}`, { path: own, pathNot: exception }, {}),
    rule(`up-from-${folder}`, { path: exception }, { pathNot: UP[folder] }),
  ];
});

/** Whose stores and queues a folder may import besides its own; all others get theirs through `deps.ts`, as types. */
const STORES_OF = {
  background: ["connections", "billing", "publishing", "wake"],
  publishing: ["wake"],
  webhooks: ["wake"],
};

const stores = FOLDERS.map((folder) => ({
  name: `stores-of-${folder}`,
  comment: "a store is used by its own folder and by those that this table names",
  severity: "error",
  from: { path: `^src/shared/${folder}/`, pathNot: "/deps\\.ts$" },
  to: {
    path: "^src/shared/.*-(store|queue)\\.ts$",
    pathNot: `^src/shared/(${[folder, ...(STORES_OF[folder] ?? [])].join("|")})/`,
  },
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
      name: "every-folder-has-its-place",
      comment: "a new folder is named in FOLDERS",
      severity: "error",
      from: {},
      to: {
        path: "^src/",
        pathNot: `^src/(main\\.ts$|functions/|shared/compose\\.ts$|shared/(${FOLDERS.join("|")})/)`,
      },
    },
    {
      name: "composed-on-top",
      severity: "error",
      from: { path: "^src/shared/" },
      to: { path: "^src/(functions/|main\\.ts$|shared/compose\\.ts$)" },
    },
    ...downwards,
    ...stores,
    {
      name: "azure-packages-at-the-edge",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main\\.ts|shared/(http|runtime/storage)/)" },
      to: { path: "node_modules/@azure/" },
    },
    {
      name: "storage-behind-stores",
      comment:
        "only stores, queues and the composition know storage; anybody may say what a row holds",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: "^src/shared/(runtime/storage/|compose\\.ts|.*-(store|queue)\\.ts)",
      },
      to: {
        path: "^src/shared/runtime/storage/",
        pathNot: "^src/shared/runtime/storage/(row|codec|damaged-row)\\.ts$",
      },
    },
    {
      name: "networks-by-argument",
      comment:
        "a network imports the contract, its own files, those it shares with a network of the same API, and of runtime/ what makes errors, settings, schemas and calls; HTTP itself is handed to it",
      severity: "error",
      from: { path: "^src/shared/networks/(?!contract/)([^/]+)/" },
      to: {
        path: "^src/shared/",
        pathNot:
          "^src/shared/(networks/($1/|contract/|graph/|[^/]+\\.ts$)|runtime/(errors|setting|shape|http-call|promises)\\.ts$)",
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
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
  },
};
