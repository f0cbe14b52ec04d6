import { readFileSync } from "node:fs";

/**
 * Reads as much of a Bicep file as a test of its structure needs. It is no compiler: types, API versions and the
 * shapes of resources are not judged. What is: brackets, names, and what modules ask of each other.
 */
export interface BicepFile {
  readonly text: string;
  /** Undefined when every bracket has its partner. */
  readonly unbalanced: string | undefined;
  readonly declarations: readonly Declaration[];
  /** Every name that is used as a value, with how often. */
  readonly uses: ReadonlyMap<string, number>;
}

export interface Declaration {
  readonly kind: "param" | "var" | "resource" | "module" | "output" | "type" | "import" | "using";
  readonly name: string;
  /** What stands behind the name. */
  readonly body: string;
}

interface Token {
  readonly kind: "word" | "mark";
  readonly text: string;
  readonly line: number;
}

interface Reading {
  readonly text: string;
  readonly tokens: Token[];
  /** For each interpolation that is open, how deep its braces are. */
  readonly depths: number[];
  index: number;
  line: number;
}

const WORD = /[A-Za-z_]\w*/y;
const OPENING = "([{";
const CLOSING = ")]}";

function push(reading: Reading, kind: Token["kind"], text: string): void {
  reading.tokens.push({ kind, text, line: reading.line });
  if (text === "\n") reading.line += 1;
  reading.index += text.length;
}

function skipComment(reading: Reading): boolean {
  const { text, index } = reading;
  if (!text.startsWith("//", index)) return false;
  reading.index = `${text}\n`.indexOf("\n", index);
  return true;
}

/** Up to the end of the string, or to an interpolation, which counts as code. */
function skipText(reading: Reading): void {
  const piece = /(?:\\.|(?!\$\{)[^'\\\n])*('|\$\{)/y;
  piece.lastIndex = reading.index;
  const found = piece.exec(reading.text);
  if (found === null) throw new Error(`line ${reading.line}: a string does not end`);
  reading.index += found[0].length;
  if (found[1] !== "'") reading.depths.push(0);
}

function readString(reading: Reading): boolean {
  const character = reading.text[reading.index];
  const isBack = character === "}" && reading.depths.at(-1) === 0;
  if (character !== "'" && !isBack) return false;
  if (isBack) {
    reading.depths.pop();
    reading.index += 1;
  } else push(reading, "mark", "'");
  skipText(reading);
  return true;
}

function readWord(reading: Reading): boolean {
  WORD.lastIndex = reading.index;
  const word = WORD.exec(reading.text)?.[0];
  if (word !== undefined) push(reading, "word", word);
  return word !== undefined;
}

function readMark(reading: Reading): boolean {
  const character = reading.text[reading.index] ?? "";
  const inner = reading.depths.length - 1;
  const change = character === "{" ? 1 : character === "}" ? -1 : 0;
  if (inner >= 0) reading.depths[inner] = (reading.depths[inner] ?? 0) + change;
  push(reading, "mark", character);
  return true;
}

const READERS = [skipComment, readString, readWord, readMark];

/** Names and marks outside of comments and strings. */
function tokenize(text: string): Token[] {
  const reading: Reading = { text, tokens: [], depths: [], index: 0, line: 1 };
  while (reading.index < text.length) READERS.some((read) => read(reading));
  return reading.tokens.filter((token) => token.text.trim() !== "");
}

function unbalancedOf(tokens: readonly Token[]): string | undefined {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== "mark") continue;
    if (OPENING.includes(token.text)) open.push(token);
    const closes = CLOSING.indexOf(token.text);
    if (closes < 0) continue;
    if (open.pop()?.text !== OPENING[closes]) return `line ${token.line}: ${token.text}`;
  }
  const left = open.at(-1);
  return left === undefined ? undefined : `line ${left.line}: ${left.text}`;
}

const KEYWORDS = new Set(
  "param var resource module output type import using from existing if for in as true false null string int bool object array targetScope".split(
    " ",
  ),
);

/** Whether a word stands for a value: it is no keyword, no property behind a point, no key before a colon. */
function isUse(token: Token, before: Token | undefined, after: Token | undefined): boolean {
  if (token.kind !== "word" || KEYWORDS.has(token.text)) return false;
  if (before?.text === "." || before?.text === "@") return false;
  return after?.text !== ":" || isBeforeColon(token, before);
}

/** A value with a colon behind it: what a loop goes over, and the first branch of a choice. */
function isBeforeColon(token: Token, before: Token | undefined): boolean {
  return before?.text === "in" || (before?.text === "?" && before.line === token.line);
}

function usesOf(tokens: readonly Token[]): Map<string, number> {
  const uses = new Map<string, number>();
  for (const [index, token] of tokens.entries())
    if (isUse(token, tokens[index - 1], tokens[index + 1]))
      uses.set(token.text, (uses.get(token.text) ?? 0) + 1);
  return uses;
}

const DECLARATION =
  /^(param|var|resource|module|output|type) (\w+)([\s\S]*?)(?=^(?:@|param |var |resource |module |output |type |import |using |targetScope |\/\/)|(?![\s\S]))/gm;

export function readBicep(path: string): BicepFile {
  return parseBicep(readFileSync(path, "utf8"));
}

export function parseBicep(text: string): BicepFile {
  const tokens = tokenize(text);
  const declarations: Declaration[] = [];
  for (const [, kind, name, body] of text.matchAll(DECLARATION))
    declarations.push({ kind: kind as Declaration["kind"], name: name ?? "", body: body ?? "" });
  for (const [, names, from] of text.matchAll(/^import \{([^}]+)\} from '([^']+)'/gm))
    for (const name of (names ?? "").split(","))
      declarations.push({ kind: "import", name: name.trim(), body: from ?? "" });
  const using = /^using '([^']+)'/m.exec(text)?.[1];
  if (using !== undefined) declarations.push({ kind: "using", name: "using", body: using });
  return { text, unbalanced: unbalancedOf(tokens), declarations, uses: usesOf(tokens) };
}

export function namesOf(file: BicepFile, ...kinds: readonly Declaration["kind"][]): string[] {
  return file.declarations.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
}

/** Parameters without a default. */
export function requiredParams(file: BicepFile): string[] {
  return file.declarations
    .filter(({ kind, body }) => kind === "param" && !/(^|[^=!<>])=[^=]/.test(body))
    .map(({ name }) => name);
}

/** Where the text between the brackets that open at `start` ends. */
export function blockAt(text: string, start: number): string {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    if (OPENING.includes(text[index] ?? " ")) depth += 1;
    if (CLOSING.includes(text[index] ?? " ")) depth -= 1;
    if (depth === 0) return text.slice(start + 1, index);
  }
  throw new Error("a block does not end");
}

/** The keys, on its first level, of the object literal that follows the marker. */
export function keysOf(text: string, marker: string): string[] {
  const start = text.indexOf("{", text.indexOf(marker) + marker.length);
  if (!text.includes(marker) || start < 0) throw new Error(`there is no object behind ${marker}`);
  const block = blockAt(text, start);
  const keys: string[] = [];
  let depth = 0;
  for (const line of block.split("\n")) {
    const key = /^\s*(\w+)\s*:/.exec(line)?.[1];
    if (depth === 0 && key !== undefined) keys.push(key);
    for (const character of line.replaceAll(/'(?:\\.|[^'\\])*'/g, "''"))
      depth += OPENING.includes(character) ? 1 : CLOSING.includes(character) ? -1 : 0;
  }
  return keys;
}
