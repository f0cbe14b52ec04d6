import { html, Markup } from "../../connections/hosted-page/markup.ts";
import { randomToken } from "../../runtime/secrets.ts";
import { API_GUIDE } from "./api-guide.ts";
import type { Chapter } from "../route.ts";
import { operationSection, type Placed } from "./docs-operation.ts";
import { DocumentReader, bodyFields, phrase, prose, typeOf } from "./docs-schema.ts";
import { LEG_ERRORS, WARNING_CODES, WARNING_MEANINGS } from "../../networks/contract/errors.ts";
import { DOC_ANCHORS } from "../../runtime/doc-url.ts";
import { ERROR_CODES } from "../../runtime/errors.ts";
import { ERROR_STATUS } from "../error-status.ts";
import { openApi } from "./openapi.ts";
import type { JsonSchema, OpenApi, OpenApiOperation } from "./openapi-types.ts";

/** For phones first; on wide screens the list of contents moves to the side. */
const DOCS_STYLE = `
:root { color-scheme: light dark; --ground: #ffffff; --raised: #f4f5f7; --ink: #1a1c21; --soft: #59606d;
  --line: #d9dce2; --link: #1d4fc4; --get: #1d4fc4; --post: #1a6d3b; --patch: #8a5300; --delete: #a51d2d; }
@media (prefers-color-scheme: dark) { :root { --ground: #15171b; --raised: #1f2228; --ink: #eceef2;
  --soft: #a5acb9; --line: #383d47; --link: #8fb2ff; --get: #8fb2ff; --post: #7fd6a2; --patch: #f0b95c;
  --delete: #ff8f9b; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); }
main, nav { padding: 1rem; min-width: 0; }
nav { background: var(--raised); border-bottom: 1px solid var(--line); font-size: .9375rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav > ul { columns: 2; }
nav li { break-inside: avoid; }
nav a { display: block; padding: .25rem 0; text-decoration: none; }
nav ul ul { display: none; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.375rem; line-height: 1.25; margin: 3rem 0 .5rem; padding-bottom: .25rem;
  border-bottom: 2px solid var(--line); }
h3 { font-size: 1.125rem; margin: 0 0 .25rem; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
h4 { font-size: .875rem; text-transform: uppercase; letter-spacing: .04em; color: var(--soft); margin: 1.25rem 0 .25rem; }
p { margin: .25rem 0 .75rem; }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem;
  overflow-x: auto; margin: .5rem 0; }
pre code { overflow-wrap: normal; }
article { padding: 1.5rem 0; border-bottom: 1px solid var(--line); }
.soft, .limits, .type { color: var(--soft); }
.place { margin: .25rem 0; }
.method { display: inline-block; font-weight: 700; font-size: .8125rem; padding: 0 .4rem; border: 1px solid;
  border-radius: .3rem; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.fields, .answers { list-style: none; margin: .25rem 0; padding: 0; }
.fields > li, .answers > li { padding: .4rem 0; border-top: 1px solid var(--line); }
.fields p { margin: .1rem 0; }
.fields .fields { margin-left: .25rem; padding-left: .75rem; border-left: 2px solid var(--line); }
.name, .status { font-weight: 700; }
.type, .limits { font-size: .875rem; overflow-wrap: anywhere; }
.limits::before { content: "· "; }
.optional { font-size: .8125rem; font-style: italic; color: var(--soft); }
.required { font-size: .8125rem; font-weight: 600; color: var(--delete); }
details { margin: .25rem 0; }
summary { cursor: pointer; color: var(--link); padding: .25rem 0; }
.codes { display: grid; gap: 0; }
.codes > div { padding: .6rem 0; border-top: 1px solid var(--line); }
.codes p { margin: .1rem 0; }
.overview { list-style: none; padding: 0; margin: .5rem 0; }
.overview a { text-decoration: none; }
.overview .method { min-width: 4.75rem; text-align: center; margin-right: .4rem; }
.overview li { padding: .2rem 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; background: var(--ground); padding: .5rem; }
@media (min-width: 60rem) {
  .page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); border-bottom: 0; }
  nav > ul { columns: auto; }
  nav > ul > li > a { font-weight: 600; margin-top: .5rem; }
  nav ul ul { display: block; padding-left: .6rem; }
  nav ul ul a { color: var(--ink); }
  main { padding: 1.5rem 3rem 6rem; max-width: 60rem; }
}
@media print { nav { display: none; } }
`;

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
      <li>${link("leg-errors", "Leg errors and findings")}</li>
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
    return html`<div id="${DOC_ANCHORS.request(code)}">
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

/** Says what each code of a leg's error or a finding means. */
function legErrors(): Markup {
  const rows = Object.entries(LEG_ERRORS).map(
    ([code, { message, remediation, retryable }]) =>
      html`<div id="${DOC_ANCHORS.leg(code)}">
        <code class="name">${code}</code>
        <p>${message} ${remediation}</p>
        <p class="soft">
          ${retryable ? "An unchanged retry may succeed." : "An unchanged retry fails again."}
        </p>
      </div>`,
  );
  const warnings = WARNING_CODES.map(
    (code) =>
      html`<div id="${DOC_ANCHORS.leg(code)}">
        <code class="name">${code}</code>
        <p>A warning: the leg is published. ${WARNING_MEANINGS[code]}</p>
      </div>`,
  );
  return html`<section id="leg-errors">
    <h2>Leg errors and findings</h2>
    <p>
      Why a leg failed (<code>error</code> of a leg), and what a validation found. The message is
      written for end users.
    </p>
    <div class="codes">${rows} ${warnings}</div>
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
        ${document.tags.map((tag) => chapter(reader, tag))} ${errors(reader)} ${legErrors()}
        ${schemas(reader)}
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
