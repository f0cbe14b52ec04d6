import type { LegDraft, MediaItem } from "../../src/shared/networks/contract/draft.ts";
import type { Problem } from "../../src/shared/networks/contract/rules.ts";

export function draft(overrides: Partial<LegDraft> = {}): LegDraft {
  return { text: "Hello", media: [], options: {}, ...overrides };
}

export function media(...names: readonly string[]): readonly MediaItem[] {
  return names.map((name) => ({ url: `https://files.example/${name}`, altText: null }));
}

export function images(count: number): readonly MediaItem[] {
  return media(...Array.from({ length: count }, (_, index) => `${index}.jpg`));
}

/** As a table writes them: severity and name. */
export function rules(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ severity, rule }) => `${severity} ${rule}`);
}
