export type RouteConstraint = (value: string) => boolean;

const INT_MAX = 2n ** 31n - 1n;
const LONG_MAX = 2n ** 63n - 1n;
const GUID =
  /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|\([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\))$/i;

/** The constraints of ASP.NET Core's routing that the host resolves, by name. A wrong argument throws. */
const CONSTRAINTS: Readonly<Record<string, (argument: string) => RouteConstraint>> = {
  int: () => (value) => within(value, -INT_MAX - 1n, INT_MAX),
  long: () => (value) => within(value, -LONG_MAX - 1n, LONG_MAX),
  bool: () => (value) => /^(?:true|false)$/i.test(value),
  guid: () => (value) => GUID.test(value),
  alpha: () => (value) => /^[a-z]*$/i.test(value),
  decimal: () => isNumber,
  double: () => isNumber,
  float: () => isNumber,
  datetime: () => (value) => !Number.isNaN(Date.parse(value)),
  required: () => (value) => value !== "",
  regex: (argument) => {
    const pattern = new RegExp(argument, "i");
    return (value) => pattern.test(value);
  },
  minlength: (argument) => {
    const minimum = Number(integer(argument));
    return (value) => value.length >= minimum;
  },
  maxlength: (argument) => {
    const maximum = Number(integer(argument));
    return (value) => value.length <= maximum;
  },
  length: (argument) => {
    const [minimum, maximum] = pair(argument);
    return (value) => value.length >= minimum && value.length <= (maximum ?? minimum);
  },
  min: (argument) => {
    const minimum = integer(argument);
    return (value) => within(value, minimum, LONG_MAX);
  },
  max: (argument) => {
    const maximum = integer(argument);
    return (value) => within(value, -LONG_MAX - 1n, maximum);
  },
  range: (argument) => {
    const [minimum, maximum] = pair(argument);
    if (maximum === undefined) throw new Error("two numbers are needed");
    return (value) => within(value, minimum, maximum);
  },
};

/** `name` or `name(argument)` as a test of a value. Throws for what the host would refuse when it starts. */
export function parseConstraint(text: string): RouteConstraint {
  const [, name = "", argument = ""] = /^([^(]*)(?:\((.*)\))?$/s.exec(text) ?? [];
  const make = Object.hasOwn(CONSTRAINTS, name.toLowerCase())
    ? CONSTRAINTS[name.toLowerCase()]
    : undefined;
  if (make === undefined) throw new Error(`the host has no route constraint "${name}"`);
  try {
    return make(argument);
  } catch (cause) {
    throw new Error(`the route constraint "${text}" is not valid`, { cause });
  }
}

function integer(text: string): bigint {
  if (!/^\s*[-+]?\d+\s*$/.test(text)) throw new Error(`${text} is not a whole number`);
  return BigInt(text.trim().replace(/^\+/, ""));
}

function pair(text: string): [bigint, bigint | undefined] {
  const [first = "", second, ...rest] = text.split(",");
  if (rest.length > 0) throw new Error("at most two numbers are needed");
  return [integer(first), second === undefined ? undefined : integer(second)];
}

function within(value: string, minimum: bigint, maximum: bigint): boolean {
  if (!/^[-+]?\d{1,19}$/.test(value)) return false;
  const number = integer(value);
  return number >= minimum && number <= maximum;
}

function isNumber(value: string): boolean {
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(value);
}
