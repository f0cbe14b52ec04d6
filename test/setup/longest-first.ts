import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take longest, the longest first: one that began last would keep one core busy and leave the other idle.
 * Those that mostly wait for processes stand between those that compute.
 */
const LONGEST = [
  "test/process/soak/soak.test.ts",
  "test/networks/contract/effects.test.ts",
  "test/process/releases/side-by-side.test.ts",
  "test/model/simulation/mutants.test.ts",
  "test/process/relay/webhooks.test.ts",
  "test/networks/contract/refusals.test.ts",
  "test/process/start/start.test.ts",
  "test/model/simulation/simulation.test.ts",
  "test/process/relay/bluesky.test.ts",
  "test/outside/browser/sandbox.test.ts",
  "test/outside/peers/oauth.test.ts",
  "test/text/patterns.test.ts",
  "test/outside/browser/flows.test.ts",
  "test/docs/executed.test.ts",
  "test/tools/host/lifecycle.test.ts",
  "test/budget/contention.test.ts",
  "test/outside/browser/accessibility.test.ts",
  "test/outside/browser/link-pages.test.ts",
  "test/outside/browser/reference.test.ts",
  "test/media/verdicts.test.ts",
  "test/webhooks/load.test.ts",
  "test/media/memory.test.ts",
  "test/outside/client/runtimes.test.ts",
  "test/networks/sixth/drill.test.ts",
  "test/process/relay/hostile.test.ts",
  "test/process/start/listen.test.ts",
  "test/tools/host/queue.test.ts",
  "test/partition/group-commit.test.ts",
  "test/text/growth.test.ts",
  "test/outside/infra/vault-secrets.test.ts",
  "test/tools/host/http.test.ts",
  "test/outside/client/client.test.ts",
  "test/outside/examples/examples.test.ts",
  "test/media/fuzz.test.ts",
  "test/media/heic.test.ts",
  "test/limits/instances.test.ts",
  "test/media/open-media.test.ts",
  "test/media/hostile-files.test.ts",
  "test/http/reference/openapi.test.ts",
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
