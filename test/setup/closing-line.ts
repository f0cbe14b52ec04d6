import { writeSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const STANDARD_OUTPUT = 1;

/**
 * Ends a run's output with `N passed, N failed`, alone on its line, and `, N skipped` where tests were skipped. It is
 * written as the process exits, because coverage and the other reporters print after their own last call.
 */
export class ClosingLine implements Reporter {
  #counts: Counts | undefined;

  onInit(): void {
    process.once("exit", (code) => {
      writeSync(STANDARD_OUTPUT, `\n${closingLine(this.#counts, code)}\n`);
    });
  }

  onTestRunStart(): void {
    this.#counts = undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    this.#counts = countResults(modules, errors.length);
  }
}

/** A failure outside any test (an import, a hook, an unhandled rejection) is a failure like any other. */
export function countResults(modules: readonly TestModule[], errorsOutside: number): Counts {
  const counts: Counts = { passed: 0, failed: errorsOutside, skipped: 0 };
  for (const module of modules) {
    counts.failed += module.errors().length;
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") counts.passed += 1;
      else if (state === "failed") counts.failed += 1;
      else counts.skipped += 1;
    }
  }
  return counts;
}

/** A run that failed without a failure of its own to show, by its set-up for one, counts as one failure. */
export function closingLine(counts: Counts | undefined, exitCode: number): string {
  const { passed, skipped } = counts ?? { passed: 0, skipped: 0 };
  const failed = counts?.failed ?? 0;
  const shown = failed === 0 && (exitCode !== 0 || counts === undefined) ? 1 : failed;
  const line = `${passed} passed, ${shown} failed`;
  return skipped > 0 ? `${line}, ${skipped} skipped` : line;
}

// vitest loads a reporter that is named by its path through the default export and no other.
// oxlint-disable-next-line import/no-default-export
export { ClosingLine as default };
