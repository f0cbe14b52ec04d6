import type en from "./languages/en.json";
import type { LinkProblem } from "./link-problem.ts";

export interface FieldWords {
  readonly label: string;
  readonly hint: string;
  readonly choices?: Readonly<Record<string, string>>;
}

type English = typeof en;

/** The English file defines the texts. The compiler finds texts that another language lacks. */
export interface Words extends English {
  readonly problems: Readonly<Record<LinkProblem, string>>;
  /** Texts of the networks' forms, by `network.field`. The networks themselves have the English ones. */
  readonly fields?: Readonly<Record<string, FieldWords>>;
}
