import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/** A resource as the compiler predicts it. What only a deployment can tell stands as an expression, `[reference(…)]`. */
export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly location?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read properties one by one and assert what they find
  readonly properties: any;
}

const INFRA = resolve(import.meta.dirname, "../../../infra");

/**
 * Returns what a parameter file deploys, as the compiler wrote it down. `npm run check:infra` fails while that is not
 * what the templates say.
 */
export function readSnapshot(name: string): readonly Resource[] {
  const { predictedResources } = JSON.parse(
    readFileSync(resolve(INFRA, `${name}.snapshot.json`), "utf8"),
  ) as { predictedResources: readonly Resource[] };
  return predictedResources;
}

export function ofType(resources: readonly Resource[], type: string): readonly Resource[] {
  return resources.filter((resource) => resource.type === type);
}

export function onlyOne(resources: readonly Resource[], type: string): Resource {
  const [found, ...others] = ofType(resources, type);
  if (found === undefined || others.length > 0)
    throw new Error(`there are ${others.length + (found === undefined ? 0 : 1)} of ${type}`);
  return found;
}
