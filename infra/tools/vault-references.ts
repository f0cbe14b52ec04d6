import { askPatiently, az } from "./az.ts";

const API = "api-version=2025-03-01";
const RESOLVED = "Resolved";
/** What time does not repair, once the app has looked after the secrets were made. */
const FINAL = ["SecretNotFound", "InvalidSyntax", "VaultNotFound"];
/** Looks after which such a status counts: the app reads the vault some time after it was told to. */
const LOOKS_LEAST = 4;

interface Reference {
  readonly name: string;
  readonly properties: { readonly status: string };
}

/** A function app as `azd` names it in the environment. */
export interface App {
  readonly subscription: string;
  readonly group: string;
  readonly name: string;
}

/** Returns the app that the environment names, if it names one. */
export function appOf(environment: Readonly<Record<string, string | undefined>>): App | undefined {
  const subscription = environment["AZURE_SUBSCRIPTION_ID"];
  const group = environment["AZURE_RESOURCE_GROUP"];
  const name = environment["AZURE_FUNCTION_APP_NAME"];
  if (!subscription || !group || !name) return undefined;
  return { subscription, group, name };
}

const references = ({ subscription, group, name }: App) =>
  `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Web/sites/${name}/config/configreferences/appsettings`;

async function listUnresolved(app: App): Promise<readonly Reference[]> {
  const answer = await az(["rest", "--method", "get", "--uri", `${references(app)}?${API}`]);
  // Safe: the service's documented answer.
  const { value } = JSON.parse(answer) as { value: readonly Reference[] };
  return value.filter(({ properties }) => properties.status !== RESOLVED);
}

async function readAnew(app: App): Promise<void> {
  await az(["rest", "--method", "post", "--uri", `${references(app)}/refresh?${API}`]);
}

/**
 * Waits until the app has every secret that its settings refer to, and has it read the vault again while it has not.
 * @throws Error that names the settings whose secret it can't have, and why
 */
export async function resolveReferences(app: App): Promise<void> {
  let open: readonly Reference[] = [];
  let looks = 0;
  const ended = await askPatiently("the app to read the vault", async () => {
    open = await listUnresolved(app);
    if (open.length === 0) return true;
    await readAnew(app);
    open = await listUnresolved(app);
    looks += 1;
    const isFinal = open.some(({ properties }) => FINAL.includes(properties.status));
    return open.length === 0 || (isFinal && looks >= LOOKS_LEAST) ? true : undefined;
  });
  if (ended === true && open.length === 0) return;
  const settings = open.map(({ name, properties }) => `  ${name}: ${properties.status}`);
  throw new Error(`the app does not have these secrets:\n${settings.join("\n")}`);
}

/** Has every instance start with what the vault holds now. */
export async function refresh(app: App): Promise<void> {
  await readAnew(app);
  await resolveReferences(app);
  const { subscription, group, name } = app;
  const which = ["--subscription", subscription, "--resource-group", group, "--name", name];
  await az(["functionapp", "restart", ...which, "--output", "none"]);
}
