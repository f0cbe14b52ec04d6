/** A string of a control's input; throws when it is missing. */
export function text(input: Readonly<Record<string, unknown>>, name: string): string {
  const value = input[name];
  if (typeof value !== "string" || value === "") throw new Error(`"${name}" is missing`);
  return value;
}

/** The same where it may be missing. */
export function optionalText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
