import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const READ = ["*.ts", "*.md", "*.bicep", "src/*/en.json", "infra/alerts.json"];
/** Exempts a line: a quotation, or a name that others chose. */
const QUOTED = "words: quoted";

/** Words that are wrong in nearly every use, each with what to write. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\banew\b/i, "again, re-…"],
  [/\bwhoever\b/i, "the caller, the worker, anyone who"],
  [/(?:[.:;"`] ?|\/\/ |\* )Wh(?:atever|ichever)\b/, "any …, everything that"],
  [/\bmend(?:s|ed|ing)?\b|\bheal(?:s|ed|ing)?\b/i, "fix, repair, recover"],
  [/\b(?:goes|go|gone|going|went) out\b/i, "is published, was sent"],
  [/\bst(?:ands?|anding|ood) still\b/i, "pauses, is suspended"],
  [
    /(?:\/\/|\*) (?:Of (?:a|an|the|one)|The same\.|Absent:)(?= |$)/,
    "a full noun phrase or sentence",
  ],
  [/\bas a rule\b/i, "usually"],
  [/\bby way of\b/i, "through"],
  [/\bin place of\b/i, "instead of"],
  [/\b(?:told|hears?|heard) of\b/i, "notified of, gets the event"],
  [/\blook(?:s|ed|ing)? aside\b/i, "reconcile, check"],
  [/(?<!(?:adresse|endereço de|confirmed) )\b(?:e-mail|E-mail)/, "email"], // words: quoted
  [/(?<![-/.\w])log-(?:in|out)s?\b(?!\/)/i, "login, logout; log in, log out as verbs"],
  [/\bNothing (?:needs|has) to be done\b/i, "No action needed"],
  [/\bthere is nothing to say\b/i, "No content"], // words: quoted
  [/\bcut behind\b/i, "cut after"],
  [/\bhold still\b/i, "pause"],
  // Names of networks' errors have an underscore.
  [
    /(?:uthor|rgan|ecogn|erial|ormal)is(?=e|i|at)|ehaviour|eighbour|(?<![_\w])cancelled|\bfavour(?!ites)|(?<!@img\/)colour|\blicence/i, // words: quoted
    "the American spelling: authorize, organization, behavior",
  ],
];

export interface WordFinding {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly better: string;
}

/** Returns what a file's text says in words that have a better one. */
export function findWords(file: string, text: string): WordFinding[] {
  return text.split("\n").flatMap((content, at) =>
    content.includes(QUOTED)
      ? []
      : WORDS.flatMap(([pattern, better]) => {
          const found = pattern.exec(content)?.[0].trim();
          return found === undefined ? [] : [{ file, line: at + 1, found, better }];
        }),
  );
}

/** Returns the findings of each folder in `limits` that has more than its limit, and all of other folders. */
export function beyondLimits(
  findings: readonly WordFinding[],
  limits: Readonly<Record<string, number>>,
): WordFinding[] {
  const folderOf = ({ file }: WordFinding) =>
    Object.keys(limits).find((folder) => file.startsWith(`${folder}/`)) ?? "";
  return [...Map.groupBy(findings, folderOf)].flatMap(([folder, ofFolder]) =>
    ofFolder.length > (limits[folder] ?? 0) ? ofFolder : [],
  );
}

/** Returns the findings of every file under version control that people write. */
export function findAllWords(root: string): WordFinding[] {
  const names = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--", ...READ], {
    cwd: root,
    encoding: "utf8",
  });
  return names
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)))
    .flatMap((file) => findWords(file, readFileSync(join(root, file), "utf8")));
}
