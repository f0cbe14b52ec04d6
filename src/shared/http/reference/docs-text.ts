import { html, Markup } from "../../connections/hosted-page/markup.ts";

/** `code` and **bold**; nothing else is meant by a mark. */
function inline(text: string): Markup[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`")) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
    return html`${part}`;
  });
}

function block(text: string): Markup {
  const lines = text.split("\n");
  if (!lines.every((line) => line.startsWith("- "))) return html`<p>${inline(text)}</p>`;
  return html`<ul>
    ${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}
  </ul>`;
}

/** A line of our own descriptions. */
export function phrase(text: string): Markup {
  return new Markup(
    inline(text)
      .map((part) => part.text)
      .join(""),
  );
}

/** Paragraphs and lists of our own descriptions: as much of Markdown as they use. */
export function prose(text: string): Markup[] {
  return text.split(/\n{2,}/).map(block);
}
