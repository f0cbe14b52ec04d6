import { INSTALL_MS_MAX, installPackages } from "../../setup/install-packages.ts";

/** As much of the package as is used: its own types are only there once it is installed. */
interface OpenApiCore {
  createConfig(config: { readonly extends: readonly string[] }): Promise<unknown>;
  lintFromString(options: {
    readonly source: string;
    readonly absoluteRef: string;
    readonly config: unknown;
  }): Promise<
    readonly {
      readonly ruleId: string;
      readonly message: string;
      readonly location: readonly { readonly pointer?: string }[];
    }[]
  >;
}

const TOOLS = new URL("tools/", import.meta.url);
export const TOOLS_MS_MAX = INSTALL_MS_MAX + 60_000;

/** Where packages that judge the document are, installed when they are missing. */
export async function toolsFolder(): Promise<URL> {
  await installPackages(TOOLS);
  return new URL("node_modules/", TOOLS);
}

/** What Redocly's recommended rules, OpenAPI's own grammar among them, say against the document. */
export async function lintDocument(source: string): Promise<string[]> {
  const entry = new URL("@redocly/openapi-core/lib/index.js", await toolsFolder());
  const core = (await import(entry.href)) as OpenApiCore;
  const config = await core.createConfig({ extends: ["recommended"] });
  const problems = await core.lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer ?? ""}`);
}
