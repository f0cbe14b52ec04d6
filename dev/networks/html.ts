const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** The address itself when it is safe to be clicked, else nothing. */
export function safeHref(address: string): string | undefined {
  return /^https?:\/\//i.test(address) ? address : undefined;
}
