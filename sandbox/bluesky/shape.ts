import { isObject } from "../exchange.ts";

type Path = readonly (string | number)[];

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function graphemeLength(text: string): number {
  return [...graphemes.segment(text)].length;
}

/** A record breaks its lexicon; the message ends with the path, as the reference server writes it. */
export class RecordProblem extends Error {
  constructor(message: string, path: Path) {
    super(
      `${message} at $${path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("")}`,
    );
    this.name = "RecordProblem";
  }
}

interface StringLimits {
  readonly bytesMax?: number;
  readonly graphemesMax?: number;
}

/** An object of a record together with its path, so that a problem names the place. */
export class Shape {
  readonly value: Readonly<Record<string, unknown>>;
  readonly #path: Path;

  constructor(value: Readonly<Record<string, unknown>>, path: Path) {
    this.value = value;
    this.#path = path;
  }

  fail(at: string | Path, message: string): never {
    throw new RecordProblem(message, [...this.#path, ...(typeof at === "string" ? [at] : at)]);
  }

  required(name: string): unknown {
    const value = this.value[name];
    if (value === undefined) throw new RecordProblem(`Missing required key "${name}"`, this.#path);
    return value;
  }

  string(name: string, limits: StringLimits = {}): string {
    const value = this.required(name);
    if (typeof value !== "string")
      this.fail(name, `Expected string value type (got ${typeof value})`);
    const bytes = Buffer.byteLength(value);
    if (limits.bytesMax !== undefined && bytes > limits.bytesMax)
      this.fail(name, `string too big (maximum ${limits.bytesMax}, got ${bytes})`);
    if (limits.graphemesMax !== undefined && graphemeLength(value) > limits.graphemesMax)
      this.fail(
        name,
        `grapheme too big (maximum ${limits.graphemesMax}, got ${graphemeLength(value)})`,
      );
    return value;
  }

  integer(name: string, minimum: number): number {
    const value = this.required(name);
    if (typeof value !== "number" || !Number.isSafeInteger(value))
      this.fail(name, `Expected integer value type (got ${typeof value})`);
    if (value < minimum) this.fail(name, `integer too small (minimum ${minimum}, got ${value})`);
    return value;
  }

  object(name: string): Shape {
    const value = this.required(name);
    if (!isObject(value)) this.fail(name, "Expected object value type");
    return new Shape(value, [...this.#path, name]);
  }

  /** An optional array; empty when absent. */
  list(name: string, max: number): readonly unknown[] {
    const value = this.value[name];
    if (value === undefined) return [];
    if (!Array.isArray(value)) this.fail(name, "Expected array value type");
    if (value.length > max) this.fail(name, `array too big (maximum ${max}, got ${value.length})`);
    return value;
  }

  objects(name: string, max: number): readonly Shape[] {
    return this.list(name, max).map((item, index) => {
      if (!isObject(item)) this.fail([name, index], "Expected object value type");
      return new Shape(item, [...this.#path, name, index]);
    });
  }
}

const DID = /^did:[a-z]+:[A-Za-z0-9._:%-]+$/;

export function isDid(text: string): boolean {
  return DID.test(text);
}

export function checkStrongReference(reference: Shape): void {
  if (!reference.string("uri").startsWith("at://")) reference.fail("uri", "Invalid at-uri");
  reference.string("cid");
}
