import { fieldOf, type LegDraft } from "./draft.ts";
import type { FindingCode, LegErrorCode, SentenceValues, WarningCode } from "./errors.ts";

type RuleUnit =
  | "UTF-16 units"
  | "graphemes"
  | "characters"
  | "bytes"
  | "files"
  | "pixels"
  | "frames"
  | "pages"
  | "hashtags"
  | "mentions";

/**
 * One rule of a network. The check of a draft, and a refusal while publishing, name it by its id. Its sentences are in
 * `networks/words`.
 */
export interface Rule {
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  /** The largest allowed number. Absent when the rule is not about a number. */
  readonly limit?: number;
  readonly unit?: RuleUnit;
  /** The account's server may state another limit. */
  readonly variesByServer?: true;
  /** The field of the request, or the name of the network's own option. Absent: what the subject of the rule's id says. */
  readonly field?: string;
}

/** The rules that every network has besides those about files, by `<subject>.<what>`. */
export const COMMON_RULES = {
  "connection.missing": { severity: "error", code: "connection_missing" },
  "connection.needsReauth": { severity: "error", code: "connection_needs_reauth" },
  "network.notConfigured": { severity: "error", code: "app_misconfigured" },
  "text.duplicate": { severity: "error", code: "duplicate_content" },
  "firstComment.permission": { severity: "warning", code: "permission_missing" },
  "firstComment.unavailable": { severity: "warning", code: "feature_unsupported" },
  "firstComment.failed": { severity: "warning", code: "first_comment_failed" },
  "firstComment.unknown": { severity: "warning", code: "first_comment_unknown" },
  "account.refused": { severity: "error", code: "connection_needs_reauth" },
  "account.replaced": { severity: "error", code: "connection_missing" },
  "media.lost": { severity: "error", code: "network_unavailable" },
  "media.statusUnknown": { severity: "error", code: "network_unavailable" },
  // A file that was uploaded here: what keeps a post from using it.
  "file.unusable": { severity: "error", code: "media_unreachable" },
  "file.waiting": { severity: "error", code: "media_not_ready" },
  "file.expires": { severity: "error", code: "media_unreachable" },
  "calls.paused": { severity: "error", code: "quota_exceeded" },
  "server.challenge": { severity: "error", code: "network_unavailable" },
  "server.blocked": { severity: "error", code: "network_unavailable" },
  "server.moved": { severity: "error", code: "network_unavailable" },
} as const satisfies Readonly<Record<string, Rule>>;

/** The rule that a first comment can't be written, by why the authorization does not suffice. */
export const FIRST_COMMENT_LACKS = {
  permission_missing: "firstComment.permission",
  feature_unsupported: "firstComment.unavailable",
} as const;

/** Rules by `<network>.<subject>.<what>`. These ids are part of the contract and never change. */
export type RuleTable = Readonly<Record<string, Rule>>;

/** How a broken rule is found, from the network's facts about a draft. A rule without a check is found elsewhere. */
interface RuleCheck<Facts> {
  /** Returns whether it is broken, or what breaks it: the indices of files, or full details. */
  readonly broken?: (facts: Facts) => boolean | readonly (number | Breach)[];
  /** Returns what is counted. The rule is broken above the limit. */
  readonly used?: (facts: Facts) => number;
  /** The limit of the account's server, which replaces the rule's. */
  readonly limitOf?: (facts: Facts) => number;
}

export type CheckedTable<Facts> = Readonly<Record<string, Rule & RuleCheck<Facts>>>;

/** Makes the functions that build a table's rows, by what a broken rule does to a draft. */
export function ruleRows<Facts>() {
  type Row = Omit<Rule, "severity" | "code"> & RuleCheck<Facts>;
  type Made<Severity, Code> = { readonly severity: Severity; readonly code: Code };
  function rowsOf<const Severity extends Rule["severity"], Codes extends Rule["code"]>(
    severity: Severity,
  ) {
    function row<const Code extends Codes>(code: Code): Made<Severity, Code>;
    function row<const Code extends Codes, const Of extends Row>(
      code: Code,
      own: Of,
    ): Made<Severity, Code> & Of;
    function row(code: Codes, own: Row = {}) {
      return { severity, code, ...own };
    }
    return row;
  }
  return {
    error: rowsOf<"error", LegErrorCode>("error"),
    warning: rowsOf<"warning", WarningCode>("warning"),
  };
}

/** Fields of the request that are not called as the subject of a rule's id. */
const SUBJECT_FIELDS: Readonly<Record<string, string | null>> = {
  ...Object.fromEntries(
    ["media", "file", "video", "reel", "story", "document"].map((subject) => [
      subject,
      "mediaUrls",
    ]),
  ),
  altText: "altTexts",
  content: "text",
  // Nothing in the request is at fault.
  ...Object.fromEntries(
    ["account", "calls", "connection", "network", "post", "quota", "server"].map((subject) => [
      subject,
      null,
    ]),
  ),
};

/** Returns the field of the request that a rule is about: the same in a check of the draft and while publishing. */
export function fieldOfRule(table: RuleTable, id: string, draft: LegDraft): string | null {
  const [network = "", subject = ""] = id.split(".");
  const ofSubject = SUBJECT_FIELDS[subject];
  const name = table[id]?.field ?? (ofSubject === undefined ? subject : ofSubject);
  return name === null ? null : fieldOf(network, draft, name);
}

/** Returns the problems of a draft by a table of rules, in the table's order. */
export function checkRules<Facts extends { readonly draft: LegDraft }>(
  table: CheckedTable<Facts>,
  facts: Facts,
): readonly Problem[] {
  return Object.entries(table).flatMap(([id, rule]) => {
    const field = fieldOfRule(table, id, facts.draft);
    const limit = rule.limitOf?.(facts) ?? rule.limit ?? Infinity;
    const used = rule.used?.(facts);
    if (used !== undefined) return used > limit ? [breach(table, id, { field, used, limit })] : [];
    const broken = rule.broken?.(facts) ?? false;
    const all = typeof broken === "boolean" ? (broken ? [{}] : []) : broken;
    return all.map((one) => {
      const found = typeof one === "number" ? { mediaIndex: one } : one;
      return breach(table, id, { field, limit, ...found });
    });
  });
}

interface MeasuredText {
  readonly measured: TextMeasure;
}

interface TextLimit<Network, Id> {
  readonly network: Network;
  readonly id: Id;
  readonly limit: number;
  readonly unit: RuleUnit;
}

/** Makes the rules about the length of a text: too long, and nearly too long. */
export function textRules<const Network extends string, const Id extends string>({
  network,
  id,
  limit,
  unit,
}: TextLimit<Network, Id>) {
  const { error, warning } = ruleRows<MeasuredText>();
  const length = error("text_too_long", {
    limit,
    unit,
    used: ({ measured }) => measured.usedCharacters,
    limitOf: ({ measured }) => measured.maxCharacters,
  });
  const nearLimit = warning("near_limit", {
    limit: Math.floor(limit * NEARLY),
    unit,
    broken({ measured: { usedCharacters: used, maxCharacters: max } }) {
      return used > max * NEARLY && used <= max ? [{ used, limit: max }] : [];
    },
  });
  // Safe: exactly these two keys are made here.
  return {
    [`${network}.text.${id}`]: length,
    [`${network}.text.nearLimit`]: nearLimit,
  } as Readonly<Record<`${Network}.text.${Id}`, typeof length>> &
    Readonly<Record<`${Network}.text.nearLimit`, typeof nearLimit>>;
}

/** The share of a limit from which on a small edit may break it. */
const NEARLY = 0.9;

/** A rule that a draft breaks. `rule` never changes: `<network>.<subject>.<what>`, as `bluesky.text.graphemes`. */
export interface Problem {
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  readonly rule: string;
  readonly values: SentenceValues;
  /** Path of the request's field: `text`, `mediaUrls`, `platformOptions.bluesky.langs` … */
  readonly field: string | null;
  readonly mediaIndex: number | null;
}

export interface TextMeasure {
  readonly usedCharacters: number;
  readonly maxCharacters: number;
}

interface Breach extends Partial<Pick<Problem, "field" | "mediaIndex">> {
  readonly used?: number;
  /** The limit that replaces the table's. */
  readonly limit?: number;
}

/** Makes the problem of a broken rule, with its numbers. */
export function breach<Table extends RuleTable>(
  table: Table,
  id: keyof Table & string,
  { used, limit, field = null, mediaIndex = null }: Breach = {},
): Problem {
  // Safe: the id is a key of the table.
  const rule = table[id] as Rule;
  const allowed = limit ?? rule.limit ?? Infinity;
  return {
    severity: rule.severity,
    code: rule.code,
    rule: id,
    values: {
      ...(used === undefined ? {} : { used }),
      ...(Number.isFinite(allowed) ? { limit: allowed } : {}),
    },
    field,
    mediaIndex,
  };
}

const FAR = 4;

/** Reports whether a text is so much too long that nothing else in it must be counted. */
export function isFarBeyond(used: number, limit: number): boolean {
  return used > limit * FAR;
}
