import { html, Markup } from "../../connections/hosted-page/markup.ts";
import { randomToken } from "../../runtime/secrets.ts";
import { API_GUIDE } from "./api-guide.ts";
import type { Chapter } from "../route.ts";
import { operationSection, type Placed } from "./docs-operation.ts";
import { DocumentReader } from "./docs-reader.ts";
import { bodyFields, phrase, prose, typeOf } from "./docs-schema.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { ERROR_CODES } from "../../runtime/errors.ts";
import { ERROR_STATUS } from "../error-status.ts";
import { openApi } from "./openapi.ts";
import type { JsonSchema, OpenApi, OpenApiOperation } from "./openapi-types.ts";

const slug = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");

function operationsOf({ paths }: OpenApi, tag: string): Placed[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Returns a title that is short enough for the list of contents: `createPost` → `Create post`. */
function title({ operationId }: OpenApiOperation): string {
  const words = operationId.replace(
    /([a-z])([A-Z])/g,
    (_all, left: string, right: string) => `${left} ${right.toLowerCase()}`,
  );
  const named = words
    .replace("open api", "OpenAPI")
    .replace("totp", "TOTP")
    .replace("oAuth", "OAuth");
  return named.charAt(0).toUpperCase() + named.slice(1);
}

const link = (id: string, title: string) => html`<a href="#${id}">${phrase(title)}</a>`;

function contents(document: OpenApi): Markup {
  const chapters = document.tags.map(({ name }) => {
    const operations = operationsOf(document, name).map(
      ({ operation }) => html`<li>${link(operation.operationId, title(operation))}</li>`,
    );
    return html`<li>
      ${link(slug(name), name)}
      <ul>
        ${operations}
      </ul>
    </li>`;
  });
  return html`<nav aria-label="Contents">
    <ul>
      ${API_GUIDE.map(({ title }) => html`<li>${link(slug(title), title)}</li>`)} ${chapters}
      <li>${link("errors", "Errors")}</li>
      <li>${link("schemas", "Schemas")}</li>
    </ul>
  </nav>`;
}

function chapter(reader: DocumentReader, { name, description }: OpenApi["tags"][number]): Markup {
  const operations = operationsOf(reader.document, name);
  return html`<section id="${slug(name)}">
    <h2>${name}</h2>
    <p>${phrase(description)}</p>
    <ul class="overview">
      ${operations.map(
        ({ method, path, operation }) =>
          html`<li>
            <a href="#${operation.operationId}"
              ><span class="method ${method.toLowerCase()}">${method}</span><code>${path}</code></a
            >
          </li>`,
      )}
    </ul>
    ${operations.map((placed) => operationSection(placed, reader))}
  </section>`;
}

/** Returns the schemas of single errors by code. The chapter before has them as a table. */
function errorSchemas({ components }: OpenApi): ReadonlyMap<string, JsonSchema> {
  const found = Object.values(components.schemas).flatMap((schema) => {
    const code = schema.properties?.["error"]?.properties?.["code"]?.const;
    return typeof code === "string" ? [[code, schema] as const] : [];
  });
  return new Map(found);
}

function errors(reader: DocumentReader): Markup {
  const schemas = errorSchemas(reader.document);
  const rows = ERROR_CODES.flatMap((code) => {
    const schema = schemas.get(code);
    if (schema === undefined) return [];
    const details = schema.properties?.["error"]?.properties?.["details"];
    const hasDetails = Object.keys(details?.properties ?? {}).length > 0;
    return html`<div id="error-${code}">
      <span class="status">${ERROR_STATUS[code]}</span> <code class="name">${code}</code>
      <p>${phrase(schema.description ?? "")}</p>
      ${
        hasDetails &&
        html`<details>
          <summary>Details</summary>
          ${bodyFields(details ?? {}, reader)}
        </details>`
      }
    </div>`;
  });
  return html`<section id="errors">
    <h2>Errors</h2>
    <p>Every error has one shape. The code says what it is, the status how HTTP sees it.</p>
    <div class="codes">${rows}</div>
  </section>`;
}

function schemas(reader: DocumentReader): Markup {
  const refused = new Set(errorSchemas(reader.document).values());
  const shown = Object.entries(reader.document.components.schemas).filter(
    ([name, schema]) =>
      !refused.has(schema) && (!name.endsWith("Request") || name === "PostRequest"),
  );
  return html`<section id="schemas">
    <h2>Schemas</h2>
    ${shown.map(
      ([name, schema]) =>
        html`<article id="schema-${name}">
          <h3>${name}</h3>
          ${schema.description !== undefined && prose(schema.description)}
          ${bodyFields(schema, reader) ?? html`<p class="type">${typeOf(schema)}</p>`}
        </article>`,
    )}
  </section>`;
}

function body(document: OpenApi): Markup {
  const reader = new DocumentReader(document);
  const { info, servers } = document;
  return html`<a class="skip" href="#content">To the content</a>
    <div class="page">
      ${contents(document)}
      <main id="content">
        <header>
          <h1>${info.title} API</h1>
          <p>${info.summary}</p>
          <p class="soft">
            Version ${info.version} · <code>${servers[0]?.url}</code> ·
            <a href="v1/openapi.json">OpenAPI document</a>
          </p>
        </header>
        ${API_GUIDE.map(
          ({ title, text }) =>
            html`<section id="${slug(title)}">
              <h2>${title}</h2>
              ${prose(text)}
            </section>`,
        )}
        ${document.tags.map((tag) => chapter(reader, tag))} ${errors(reader)} ${schemas(reader)}
      </main>
    </div>`;
}

let made: { readonly document: OpenApi; readonly body: Markup } | undefined;

/** Returns the reference as an HTML page without scripts or files of its own. Everything but the nonce is made once. */
export function docsPage(chapters: readonly Chapter[], baseUrl: string, serviceName?: string) {
  const document = openApi(chapters, baseUrl, serviceName);
  if (made?.document !== document) made = { document, body: body(document) };
  const nonce = randomToken(16);
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title} API reference</title>
        <style nonce="${nonce}">
          ${new Markup(DOCS_STYLE)}
        </style>
      </head>
      <body>
        ${made.body}
      </body>
    </html> `.text;
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return {
    text,
    headers: [
      ["content-security-policy", policy],
      ["x-frame-options", "DENY"],
      ["referrer-policy", "no-referrer"],
    ] as const,
  };
}
