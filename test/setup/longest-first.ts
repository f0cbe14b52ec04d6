import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take longest, the longest first: one that began last would keep one core busy and leave the other idle.
 * Those that mostly wait for processes stand between those that compute.
 */
const LONGEST = [
  "test/soak/soak.test.ts",
  "test/networks/contract/effects.test.ts",
  "test/simulation/simulation.test.ts",
  "test/start/start.test.ts",
  "test/networks/contract/refusals.test.ts",
  "test/whole/bluesky.test.ts",
  "test/simulation/mutants.test.ts",
  "test/browser/flows.test.ts",
  "test/peers/oauth.test.ts",
  "test/docs/executed.test.ts",
  "test/browser/accessibility.test.ts",
  "test/media/fuzz.test.ts",
  "test/infra/vault-secrets.test.ts",
  "test/whole/webhooks.test.ts",
  "test/text/growth.test.ts",
  "test/media/open-media.test.ts",
  "test/examples/examples.test.ts",
  "test/text/patterns.test.ts",
  "test/host/queue.test.ts",
  "test/limits/instances.test.ts",
  "test/whole/hostile.test.ts",
  "test/connect/events.test.ts",
  "test/host/http.test.ts",
  "test/contract/fuzz.test.ts",
  "test/networks/sixth/drill.test.ts",
  "test/media/verdicts.test.ts",
  "test/contract/openapi.test.ts",
  "test/media/hostile-files.test.ts",
];

/** Starts the files that are known to take long before all others; those come as vitest would order them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.indexOf(relative(process.cwd(), moduleId).replaceAll("\\", "/"));
      return place < 0 ? LONGEST.length : place;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => rank(left) - rank(right));
  }
}
