import { unescapeHtml } from "../../src/shared/networks/contract/text.ts";
import type { OpenApi } from "./openapi-types.ts";

/** Matches what Markdown leaves out: tabs, samples beyond the first, and what opens a list of fields. */
const LEFT_OUT =
  /<pre class="(?:js|python)">[^]*?<\/pre>|<fieldset>[^]*?<\/fieldset>|<summary>\d+ fields?<\/summary>/g;

const BLOCK = /^(?:p|div|summary|details|section|article|header)$/;

const MARKS: Readonly<Record<string, string>> = { code: "`", strong: "**" };

/** Writes the reference page as Markdown. It supports only the tags of that page. */
class MarkdownWriter {
  readonly #parts: string[] = [];
  /** Line breaks before the next text. */
  #breaks = 0;
  #isItem = false;
  #endsInSpace = true;
  #depth = 0;
  #isCode = false;
  /** Target of the open link. Undefined within the page, because Markdown has no anchors. */
  #link: string | undefined;

  get text(): string {
    return `${this.#parts
      .join("")
      .replace(/[ \t]+\n/g, "\n")
      .trim()}\n`;
  }

  words(text: string): void {
    if (this.#isCode) return void this.#parts.push(unescapeHtml(text));
    const words = unescapeHtml(text).replace(/\s+/g, " ");
    const isFresh = this.#breaks > 0 || this.#endsInSpace;
    this.#write(isFresh ? words.trimStart() : words);
  }

  #write(text: string): void {
    if (text === "") return;
    if (this.#breaks > 0) {
      const indent = "  ".repeat(Math.max(0, this.#depth - (this.#isItem ? 1 : 0)));
      this.#parts.push("\n".repeat(this.#breaks), indent, this.#isItem ? "- " : "");
      this.#breaks = 0;
      this.#isItem = false;
    }
    this.#parts.push(text);
    this.#endsInSpace = text.endsWith(" ");
  }

  #break(count: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, this.#depth > 0 ? 1 : count);
  }

  open(tag: string, attributes: string): void {
    if (/^h[1-4]$/.test(tag)) {
      this.#break(2);
      this.#write(`${"#".repeat(Number(tag[1]))} `);
    } else if (tag === "ul") {
      this.#break(2);
      this.#depth += 1;
    } else if (tag === "li") {
      this.#break(1);
      this.#isItem = true;
    } else if (tag === "pre") {
      const language = /class="(\w+)"/.exec(attributes)?.[1] ?? "";
      this.#break(2);
      this.#write(`\`\`\`${language}\n`);
      this.#isCode = true;
    } else if (tag in MARKS) this.#mark(MARKS[tag]);
    else if (tag === "a") {
      this.#link = /href="([^#"][^"]*)"/.exec(attributes)?.[1];
      if (this.#link !== undefined) this.#mark("[");
    } else if (BLOCK.test(tag)) this.#break(2);
  }

  close(tag: string): void {
    if (/^h[1-4]$/.test(tag) || BLOCK.test(tag)) this.#break(2);
    else if (tag === "ul") {
      this.#depth -= 1;
      this.#break(2);
    } else if (tag === "pre") {
      this.#isCode = false;
      this.#parts.push("\n```");
      this.#break(2);
    } else if (tag in MARKS) this.#mark(MARKS[tag]);
    else if (tag === "a" && this.#link !== undefined) this.#mark(`](${unescapeHtml(this.#link)})`);
  }

  #mark(text = ""): void {
    if (!this.#isCode) this.#write(text);
  }
}

export function toMarkdown(content: string): string {
  const writer = new MarkdownWriter();
  for (const part of content.replace(LEFT_OUT, "").split(/(<[^>]*>)/)) {
    const [, slash, tag, attributes = ""] = /^<(\/?)(\w+)([^>]*)>$/.exec(part) ?? [];
    if (tag === undefined) writer.words(part);
    else if (slash === "/") writer.close(tag);
    else writer.open(tag, attributes);
  }
  return writer.text;
}

/** Returns the index of the reference for language models, in the form of llmstxt.org. */
export function llmsIndex(document: OpenApi): string {
  const base = document.servers[0]?.url ?? "";
  const chapters = document.tags.map(({ name }) => {
    const calls = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { tags }]) => tags.includes(name))
        .map(([method, { operationId, summary, description = "" }]) => {
          const [about = ""] = description.split("\n");
          return `- [${summary}](${base}/docs#${operationId}): \`${method.toUpperCase()} ${path}\`. ${about}`;
        }),
    );
    return `## ${name}\n\n${calls.join("\n")}`;
  });
  return `# ${document.info.title} API

> ${document.info.summary} A multi-tenant relay that publishes to Facebook, Instagram, LinkedIn, Bluesky and Mastodon.

Base address: ${base}

## Reference

- [The whole reference](${base}/docs.md): every call with its fields, errors and an example, in Markdown.
- [OpenAPI](${base}/v1/openapi.json): the same for programs, OpenAPI 3.1.
- [For people](${base}/docs): the same as a page with a search.

${chapters.join("\n\n")}
`;
}
