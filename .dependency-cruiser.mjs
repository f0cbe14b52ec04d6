/**
 * The folders of `src/shared`, from the top down: each imports what stands below it and nothing above. `compose.ts`
 * stands over all of them, and only what runs the app imports it.
 */
export const FOLDERS = [
  "host",
  "http",
  "background",
  "erasure",
  "people",
  "tenants",
  "publishing",
  "files",
  "connections",
  "webhooks",
  "ledger",
  "mail",
  "partition",
  "events",
  "media",
  "limits",
  "wake",
  "config",
  "networks",
  "audit",
  "callers",
  "runtime",
];

const downwards = FOLDERS.slice(1).map((folder, index) => ({
  name: `below-${folder}`,
  comment: `${folder} imports nothing of: ${FOLDERS.slice(0, index + 1).join(", ")}`,
  severity: "error",
  from: { path: `^src/shared/${folder}/` },
  to: { path: `^src/shared/(${FOLDERS.slice(0, index + 1).join("|")})/` },
}));

/** The folders of which others import `<folder>/<folder>.ts`, and what routes declare: schemas and examples. */
export const MODULES = [
  "audit",
  "background",
  "connections",
  "erasure",
  "events",
  "files",
  "ledger",
  "limits",
  "mail",
  "partition",
  "people",
  "publishing",
  "tenants",
  "wake",
  "webhooks",
];

const faces = MODULES.map((folder) => ({
  name: `face-of-${folder}`,
  comment: "other folders import a module's public face alone",
  severity: "error",
  from: { path: "^src/", pathNot: `^src/shared/${folder}/` },
  to: {
    path: `^src/shared/${folder}/`,
    pathNot: `^src/shared/${folder}/(${folder}|.*schema|.*examples)\\.ts$`,
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
    ...faces,
    {
      name: "stores-stay-in-their-folder",
      comment: "a store is used by its own folder; what others need of it is on the folder's face",
      severity: "error",
      from: { path: "^src/shared/([^/]+)/" },
      to: {
        path: "^src/shared/.*-(store|queue)\\.ts$",
        pathNot: "^src/shared/$1/",
      },
    },
    {
      name: "azure-packages-at-the-edge",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main\\.ts|shared/(host|runtime/storage)/)" },
      to: { path: "node_modules/@azure/" },
    },
    {
      name: "storage-behind-stores",
      comment:
        "only stores with their rows, queues and the composition know storage; anybody may say what a row holds",
      severity: "error",
      from: {
        path: "^src/",
        // A module's face creates its stores.
        pathNot: `^src/shared/(runtime/storage/|compose\\.ts|.*-(store|row|queue)\\.ts|.*/stores\\.ts|(${MODULES.map((name) => `${name}/${name}`).join("|")})\\.ts)`,
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
          "^src/shared/(networks/($1/|contract/|graph/|[^/]+\\.ts$)|runtime/(errors|setting|shape|http-call|json-depth|promises)\\.ts$)",
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
      to: { path: "^(sandbox|dev|tools|infra|test|bench)/" },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
  },
};
