/** Reports whether the value is an object with names and values, as JSON has them. Lists are none. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
