import { describe, expect, test } from "vitest";
import { FAILURE_MODES } from "../../sandbox/faults.ts";
import { escapeHtml } from "../../sandbox/html.ts";
import { startSandbox } from "../../sandbox/server.ts";
import { forFile } from "../setup/for-file.ts";

const sandbox = forFile(() => startSandbox());

describe("the front page", () => {
  test("names every failure mode and its words, and holds still when it is asked to", async () => {
    const page = await (await fetch(sandbox.url)).text();
    for (const { mode, words } of FAILURE_MODES) {
      expect(page).toContain(`<h3>${mode}</h3>`);
      for (const { word } of words) expect(page).toContain(`<code>${escapeHtml(word)}</code>`);
    }
    expect(page).toContain('http-equiv="refresh"');
    expect(await (await fetch(`${sandbox.url}/?still`)).text()).not.toContain("http-equiv");
  });

  test.each(
    FAILURE_MODES.flatMap(({ words }) => words.map(({ word }) => word)).filter(
      (word) => !word.includes("<"),
    ),
  )("names %s, which is one that the sandbox plays", (word) => {
    expect(() => sandbox.fault("mastodon", "*", word.slice(1, -1))).not.toThrow();
  });
});
