/** What people type for an account: `@name`, `at://…`, a bare name, a DID, an e-mail address. */
export interface Identifier {
  readonly kind: "handle" | "did" | "email";
  readonly value: string;
}

/** Undefined when it can't be meant as any of them. */
export function readIdentifier(typed: string, isPublic: boolean): Identifier | undefined {
  const text = typed.replace(/^@/, "").replace(/^at:\/\//, "");
  if (/^did:(?:plc:[a-z2-7]{24}|web:[a-z0-9.%-]+)$/i.test(text))
    return { kind: "did", value: text };
  if (/^[^\s@]+@[^\s@][^\s@.]*\.[^\s@]+$/.test(text)) return { kind: "email", value: text };
  const name = text.toLowerCase().replace(/\.$/, "");
  // The network's own app completes a bare name in the same way.
  const handle = isPublic && /^[a-z0-9-]+$/.test(name) ? `${name}.bsky.social` : name;
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(handle) && handle.length <= 253
    ? { kind: "handle", value: handle }
    : undefined;
}
