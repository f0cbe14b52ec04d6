import { routeKeys, queues } from "../src/functions/manifest.ts";
import { chapters } from "../src/functions/routes.ts";
import { renderReference } from "./reference/render-reference.ts";
import type { ReferenceTexts } from "../src/shared/http/reference/reference-texts.ts";
import { SETTINGS_BY_NETWORK } from "../src/shared/networks/names.ts";

/** What the build takes from the sources by running them. */
export interface BuildFacts {
  /** What `src/functions/manifest.ts` exports. */
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Under which name a network's `settings.ts` exports its settings; null for a network that has none. */
  readonly settingsByNetwork: Readonly<Record<string, string | null>>;
  readonly reference: ReferenceTexts;
}

async function exportOf(network: string, settings: unknown): Promise<string | null> {
  if (settings === undefined) return null;
  const file = new URL(`../src/shared/networks/${network}/settings.ts`, import.meta.url);
  const exported = Object.entries((await import(file.href)) as Readonly<Record<string, unknown>>);
  const [name] = exported.find(([, value]) => value === settings) ?? [];
  if (name === undefined) throw new Error(`${file.pathname} does not export ${network}'s settings`);
  return name;
}

async function readFacts(): Promise<BuildFacts> {
  const names = Object.entries(SETTINGS_BY_NETWORK).map(
    async ([network, settings]) => [network, await exportOf(network, settings)] as const,
  );
  return {
    manifest: { routeKeys, queues },
    settingsByNetwork: Object.fromEntries(await Promise.all(names)),
    reference: renderReference(chapters),
  };
}

// In a process of its own, whose output the build reads: a later build sees later sources.
if (import.meta.main) process.stdout.write(JSON.stringify(await readFacts()));
