import * as z from "zod";
import { RATE_CARD } from "../src/shared/ledger/ledger.ts";
import { languageWords } from "../src/shared/connections/hosted-page/language.ts";
import { ERROR_CATALOG, ERROR_CODES } from "../src/shared/runtime/error-catalog.ts";
import { detailsOfError } from "./reference/error-details.ts";
import { describeRules, type DescribedRule } from "./describe-rules.ts";
import { ERRORS as bluesky } from "../src/shared/networks/bluesky/errors.ts";
import { ERRORS as facebook } from "../src/shared/networks/facebook/errors.ts";
import { ERRORS as instagram } from "../src/shared/networks/instagram/errors.ts";
import { ERRORS as linkedin } from "../src/shared/networks/linkedin/errors.ts";
import { ERRORS as mastodon } from "../src/shared/networks/mastodon/errors.ts";
import type { ErrorTable, TableRow } from "../src/shared/networks/contract/answers.ts";
import {
  LEG_ERRORS,
  type LegErrorCode,
  WARNING_CODES,
  WARNING_MEANINGS,
} from "../src/shared/networks/contract/errors.ts";
import { wordsOfCode } from "../src/shared/networks/wording.ts";
import { networkOf } from "../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../src/shared/networks/names.ts";
import type { FileTarget, MediaTargets } from "../src/shared/networks/contract/media.ts";
import type { Network } from "../src/shared/networks/contract/network.ts";
import { DELIVERY_ERRORS } from "../src/shared/webhooks/deliveries/delivery.ts";
import { DELIVERY_ADVICE } from "./delivery-advice.ts";
import { type Keys, TRAITS } from "../src/shared/networks/mastodon/servers.ts";
import { PUBLIC_ANSWERS } from "../sandbox/public-answers.ts";
import { markdownTable } from "./markdown-table.ts";

const code = (text: string) => `\`${text}\``;

/** Which fields `details` has, for who has not read the API's description. */
function detailsOf(schema: z.ZodType): string {
  const { properties = {} } = z.toJSONSchema(schema, { unrepresentable: "any", io: "output" });
  return Object.keys(properties).map(code).join(", ");
}

export function apiErrors(): string {
  const rows = ERROR_CODES.map((name) => {
    const { status, when, advice, again } = ERROR_CATALOG[name];
    return [code(name), String(status), when, advice, again, detailsOf(detailsOfError(name))];
  });
  const head = ["Code", "Status", "Cause", "What to do", "The same request again?", "`details`"];
  return markdownTable(head, rows);
}

export function legErrors(): string {
  // Safe: these are the table's keys.
  const rows = (Object.keys(LEG_ERRORS) as LegErrorCode[]).map((name) => {
    const { message, remediation } = wordsOfCode(name);
    return [code(name), message, remediation, LEG_ERRORS[name].retryable ? "yes" : "no"];
  });
  return markdownTable(["Code", "Cause", "What to do", "Retry unchanged?"], rows);
}

/** What is done to a post, or could not be done, by the code of the warning. */
export function warningCodes(): string {
  const rows = WARNING_CODES.map((name) => [code(name), WARNING_MEANINGS[name]]);
  return markdownTable(["Code", "What happens"], rows);
}

/** What the sandbox answers when a word asks for it. */
export function publicAnswers(): string {
  const rows = PUBLIC_ANSWERS.map(({ network, name, meaning, source }) => [
    network,
    code(`[answer:${name}]`),
    meaning,
    source.startsWith("https://") ? `<${source}>` : source,
  ]);
  return markdownTable(["Network", "Word", "Answer", "Source"], rows);
}

export function deliveryErrors(): string {
  const rows = DELIVERY_ERRORS.map((name) => [code(name), DELIVERY_ADVICE[name]]);
  return markdownTable(["`lastError`", "What it means"], rows);
}

export function linkProblems(): string {
  const rows = Object.entries(languageWords("en").problems).map(([name, words]) => [
    code(name),
    words
      .replaceAll("{network}", "_network_")
      .replaceAll("{toBrand}", "to Planner")
      .replaceAll("{brand}", "Planner")
      .replaceAll("{field}", "Your server"),
  ]);
  return markdownTable(["`problem`", "What the page says, in English"], rows);
}

export function rateCard(): string {
  const rows = Object.entries(RATE_CARD).map(([name, { tokens, unit, description }]) => [
    code(name),
    String(tokens),
    unit,
    description,
  ]);
  return markdownTable(["Operation", "Tokens", "Per", "What for"], rows);
}

const number = (value: number) => value.toLocaleString("en");

function bytes(count: number): string {
  const isBinary = count % 1024 === 0 && count % 1000 !== 0;
  const [unit, size] = isBinary ? ["MiB", 1024 * 1024] : ["MB", 1_000_000];
  return `${number(Math.round((count / size) * 10) / 10)} ${unit}`;
}

const typeName = (type: string) =>
  type
    .replace(/^image\//, "")
    .replace("jpeg", "JPEG")
    .toUpperCase();

function imageLimits({ image, moving = [] }: MediaTargets): string {
  const { types, bytesMax, edgeMax, pixelsMax, ratio, plays, framesMax } = image;
  return [
    types.map(typeName).join(", "),
    bytes(bytesMax),
    ...(edgeMax === undefined ? [] : [`longest side ${number(edgeMax)} px`]),
    ...(pixelsMax === undefined ? [] : [`${number(pixelsMax)} pixels`]),
    ...(ratio === undefined ? [] : [`width : height from ${ratio.min} to ${ratio.max}`]),
    plays.length === 0
      ? "moving images become stills"
      : `moving ${plays.map(typeName).join(" and ")} stay, others become stills`,
    ...(framesMax === undefined ? [] : [`${number(framesMax)} frames`]),
    ...(moving.length === 0 ? [] : ["one GIF alone becomes a video"]),
  ].join("; ");
}

function videoLimits(video: FileTarget | undefined): string {
  if (video?.bytesMax === undefined) return "left to the network";
  const { types = [], bytesMax, secondsMin, secondsMax } = video;
  const names: Readonly<Record<string, string>> = { "video/mp4": "MP4", "video/quicktime": "MOV" };
  return [
    ...(types.length === 0 ? [] : [types.map((type) => names[type] ?? type).join(", ")]),
    bytes(bytesMax),
    ...(secondsMin === undefined ? [] : [`from ${secondsMin} s`]),
    ...(secondsMax === undefined ? [] : [`up to ${number(secondsMax)} s`]),
  ].join("; ");
}

/** Stands for any network, and has the rules that all have. */
const NOBODY = { ...networkOf("mastodon"), name: "the network", rules: {} };

const DRAFT = { text: "", media: [], options: {} };

function limitOf({ name, rules = {} }: Network, subject: RegExp): string {
  const found = Object.entries(rules).filter(
    ([rule, { limit, severity }]) =>
      limit !== undefined && severity === "error" && subject.test(rule.slice(name.length + 1)),
  );
  return found
    .map(([, { limit = 0, unit = "", variesByServer }]) => {
      const told = variesByServer ? ", or what the account's server says" : "";
      return `${number(limit)} ${unit}${told}`;
    })
    .join("; ");
}

function quotaOf({ settings }: Network): string {
  const found = Object.entries(settings?.table ?? {}).filter(([name]) => name.startsWith("QUOTA_"));
  return found
    .map(
      ([name, { fallback, about }]) => `${fallback} (${about.replace(/\.$/, "")}; ${code(name)})`,
    )
    .join("; ");
}

/** What every network accepts, side by side. */
export function networkLimits(): string {
  const rows = NETWORK_NAMES.map((name) => {
    const network: Network = networkOf(name);
    const targets = network.media?.(DRAFT, {});
    return [
      network.title,
      limitOf(network, /^text\.(?:length|graphemes|bytes|hashtags|mentions)$/),
      limitOf(network, /^media\.count$/),
      targets === undefined ? "" : imageLimits(targets),
      videoLimits(targets?.video),
      quotaOf(network) || "none",
    ];
  });
  const head = ["Network", "Text", "Files", "Image after fitting", "Video", "Quota in 24 hours"];
  return markdownTable(head, rows);
}

const KEYS: Readonly<Record<Keys, string>> = {
  locked: "answers with the first post",
  kept: "answers with the first post",
  spent: "may refuse it without a post, so that the relay sends no key",
  ignored: "makes another post",
};

/** What servers that speak Mastodon's API do otherwise than Mastodon, as far as it is known. */
export function mastodonServers(): string {
  const rows = Object.entries(TRAITS).map(([name, traits]) => [
    name,
    KEYS[traits.keys],
    traits.mixesFiles ? "yes" : "no",
    traits.needsMedia ? "always" : "no",
    traits.hasDirect ? "yes" : "no",
    traits.hasCoarseScopes ? "`read write`" : "one for each use",
  ]);
  const head = ["Software", "A repeated call", "Images with a video", "Needs a file"];
  return markdownTable([...head, "Direct posts", "Permissions"], rows);
}

interface Described {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
  readonly properties?: Readonly<Record<string, Described>>;
  readonly const?: unknown;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** A schema in a few words. */
function shapeName(schema: Described): string {
  const { type, enum: values, items, anyOf, properties, maxLength, maxItems } = schema;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (values !== undefined) return values.map((value) => code(JSON.stringify(value))).join(", ");
  if (anyOf !== undefined) return anyOf.map(shapeName).join(", or ");
  if (items !== undefined) {
    const many = maxItems === undefined ? "list" : `list of up to ${maxItems}`;
    return `${many}: ${shapeName(items)}`;
  }
  if (properties !== undefined)
    return `object with ${Object.keys(properties).map(code).join(", ")}`;
  const long = maxLength === undefined ? "" : ` of up to ${number(maxLength)} characters`;
  return `${[type ?? "anything"].flat().join(" or ")}${long}`;
}

/** `platformOptions.<network>`, field by field, beside those that every network accepts. */
export function networkOptions(): string {
  const shared = ["text", "mediaUrls", "altTexts"];
  const rows = NETWORK_NAMES.flatMap((name) => {
    const schema = z.toJSONSchema(networkOf(name).options(), {
      io: "input",
      unrepresentable: "any",
    });
    // Safe: what zod makes of a field is no boolean schema.
    const fields = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Described>>);
    return fields
      .filter(([field]) => !shared.includes(field))
      .map(([field, described]) => [name, code(field), shapeName(described)]);
  });
  return markdownTable(["Network", "Field", "Value"], rows);
}

const described = () => describeRules(NETWORK_NAMES.map((name) => networkOf(name)));

const inSentence = (text: string) => text.replace(/(?<=[^.:] )The network/g, "the network");

const ruleEntry = (id: string, text: string) => `- ${code(id)}: ${text}`;

function ruleText({ severity, code: of, message, remediation, developerHint }: DescribedRule) {
  const hint = developerHint === null ? "" : ` _For developers:_ ${developerHint}`;
  return inSentence(`${severity}, ${code(of)}. ${message} _What to do:_ ${remediation}${hint}`);
}

/** The network's title, and "the network" of a rule that is no network's own. */
function titleOf({ network }: DescribedRule): string {
  const name = NETWORK_NAMES.find((known) => known === network);
  return name === undefined ? network : networkOf(name).title;
}

/** Returns a rule's id and text without the name and the limit of its network. */
function forAnyNetwork(rule: DescribedRule): string {
  const { network } = rule;
  const title = titleOf(rule);
  const text = ruleText(rule)
    .replaceAll(`platformOptions.${network}`, "platformOptions.<network>")
    .replaceAll(new RegExp(`(^|[.] )${title}\\b`, "g"), "$1The network")
    .replaceAll(new RegExp(`\\b(?:${title}|${network})\\b`, "g"), "the network")
    .replaceAll(/(?<=\b(?:allows|of|the) )\d[\d,]*\d\b/g, "…");
  return ruleEntry(`<network>${rule.rule.slice(network.length)}`, text);
}

/** Every rule that a finding or a failed leg may name. What says the same on several networks is listed once. */
export function networkRules(): string {
  const own = described().filter(({ isCommon }) => !isCommon);
  const byText = Map.groupBy(own, forAnyNetwork);
  const isShared = (rule: DescribedRule) => byText.get(forAnyNetwork(rule))?.length !== 1;
  const names = new Intl.ListFormat("en-GB");
  const shared = [...byText].flatMap(([entry, rules]) =>
    rules.length === 1 ? [] : [`${entry} _On:_ ${names.format(rules.map(titleOf))}.`],
  );
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ["All networks", describeRules([NOBODY]).map(forAnyNetwork)],
    ["Several networks", shared],
    ...NETWORK_NAMES.map((name) => {
      const rules = own.filter((rule) => rule.network === name && !isShared(rule));
      return [
        networkOf(name).title,
        rules.map((rule) => ruleEntry(rule.rule, ruleText(rule))),
      ] as const;
    }),
  ];
  return lists.map(([title, entries]) => `## ${title}\n\n${entries.join("\n")}`).join("\n\n");
}

const ERROR_TABLES: Readonly<Record<(typeof NETWORK_NAMES)[number], ErrorTable>> = {
  facebook,
  instagram,
  linkedin,
  bluesky,
  mastodon,
};

const NEXT: Readonly<Record<TableRow["effect"], string>> = {
  refuse: "the leg fails",
  later: "tried again later",
  at_once: "tried again with new credentials",
  prepare_again: "files are uploaded again",
  doubt: "the post is looked up",
};

/** What an answer has to say for a row of an error table. */
function signalWords({
  status,
  code: own,
  codes,
  subcode,
  field,
  isTransient,
  message,
}: TableRow["signal"]) {
  return [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(own === undefined ? [] : [own === "" ? "no code" : code(String(own))]),
    ...(codes === undefined ? [] : [code(`${codes[0]}–${codes[1]}`)]),
    ...(subcode === undefined ? [] : [`subcode ${code(String(subcode))}`]),
    ...(isTransient === undefined ? [] : ["`is_transient`"]),
    ...(field === undefined ? [] : [`field ${code(field.source)}`]),
    ...(message === undefined ? [] : [`words ${code(message.source)}`]),
  ].join(", ");
}

/** What each network says, and what it means: the rows of the error tables, in the order in which they are tried. */
export function networkAnswers(): string {
  const rules = new Map(described().map((rule) => [rule.rule, rule]));
  return NETWORK_NAMES.map((name) => {
    const rows = ERROR_TABLES[name].map(({ signal, code: legCode, rule, effect }) => {
      const words = rules.get(rule ?? "") ?? wordsOfCode(legCode, networkOf(name).title);
      const cells = [code(legCode), rule === undefined ? "" : code(rule), words.message];
      return [signalWords(signal), ...cells, NEXT[effect]];
    });
    const head = ["The network says", "Code", "Rule", "What it means", "What follows"];
    const table = markdownTable(head, rows);
    return `## ${networkOf(name).title}\n\n\`src/shared/networks/${name}/errors.ts\`\n\n${table}`;
  }).join("\n\n");
}
