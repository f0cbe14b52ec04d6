import { html, type Markup } from "../../src/shared/connections/connections.ts";
import { API_GUIDE } from "./api-guide.ts";
import { DOCS_SCRIPT, DOCS_STYLE, FAVICON } from "./docs-assets.ts";
import type { PlacedOperation } from "./docs-code.ts";
import { operationSection } from "./docs-operation.ts";
import { DocumentReader, bodyFields, phrase, prose, typeMarkup } from "./docs-schema.ts";
import {
  LEG_ERRORS,
  type LegErrorCode,
  WARNING_CODES,
  WARNING_MEANINGS,
} from "../../src/shared/networks/contract/errors.ts";
import { wordsOfCode } from "../../src/shared/networks/wording.ts";
import { DOC_ANCHORS } from "../../src/shared/runtime/doc-url.ts";
import { ERROR_CATALOG, ERROR_CODES } from "../../src/shared/runtime/error-catalog.ts";
import type { Route } from "../../src/shared/http/route.ts";
import type { JsonSchema, OpenApi } from "./openapi-types.ts";

const slug = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");

function operationsOf({ paths }: OpenApi, tag: string): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const link = (id: string, title: string) => html`<a href="#${id}">${phrase(title)}</a>`;

const methodBadge = (method: string) =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

function contents(document: OpenApi): Markup {
  const chapters = document.tags.map(({ name }) => {
    const operations = operationsOf(document, name).map(
      ({ method, operation }) =>
        html`<li>
          <a href="#${operation.operationId}">${methodBadge(method)} ${operation.summary}</a>
        </li>`,
    );
    return html`<li>
      ${link(slug(name), name)}
      <ul>
        ${operations}
      </ul>
    </li>`;
  });
  return html`<nav aria-label="Contents">
    <div class="top">
      <a href="#content">${document.info.title} API</a>
      <input type="checkbox" id="menu" aria-label="Show the contents" />
      <label for="menu">Contents</label>
    </div>
    <div class="side">
      <div class="search" hidden>
        <label for="q">Search<kbd>/</kbd></label>
        <input id="q" type="search" autocomplete="off" spellcheck="false" />
        <p id="count" class="soft" role="status"></p>
        <ul id="results" class="results"></ul>
      </div>
      <ul id="contents">
        ${API_GUIDE.map(({ title }) => html`<li>${link(slug(title), title)}</li>`)} ${chapters}
        <li>${link("errors", "Errors")}</li>
        <li>${link("leg-errors", "Leg errors and findings")}</li>
        <li>${link("addresses", "Addresses for browsers and networks")}</li>
        <li>${link("schemas", "Schemas")}</li>
      </ul>
    </div>
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
            ${methodBadge(method)}
            <a href="#${operation.operationId}"><code>${path}</code></a>
            <span class="soft">${operation.summary}</span>
          </li>`,
      )}
    </ul>
    ${operations.map((placed) => operationSection(placed, reader))}
  </section>`;
}

/** Returns the schemas of single errors by code. The chapter before shows them as a table. */
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
      <span class="status">${ERROR_CATALOG[code].status}</span> <code class="name">${code}</code>
      <p>${phrase(schema.description ?? "")}</p>
      <p>What to do: ${phrase(ERROR_CATALOG[code].advice)}</p>
      <p class="soft">The same request again: ${ERROR_CATALOG[code].again}.</p>
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

/** Lists the meaning of each code of a leg's error or a finding. */
function legErrors(): Markup {
  // Safe: these are the table's keys.
  const rows = (Object.keys(LEG_ERRORS) as LegErrorCode[]).map((code) => {
    const { message, remediation } = wordsOfCode(code);
    const again = LEG_ERRORS[code].retryable ? "may succeed" : "fails again";
    return html`<div id="${DOC_ANCHORS.leg(code)}">
      <code class="name">${code}</code>
      <p>${message} ${remediation}</p>
      <p class="soft">An unchanged retry ${again}.</p>
    </div>`;
  });
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
      Why a leg failed (<code>error</code> of a leg), what was done to it (<code>warnings</code>),
      and what a validation found. <code>message</code> and <code>remediation</code> are for the
      person who posts, in the language of <code>Accept-Language</code>.
      <code>developerHint</code> is for the caller.
    </p>
    <div class="codes">${rows} ${warnings}</div>
  </section>`;
}

/** Lists the routes that only browsers and networks call. */
function addressList(routes: readonly Route[]): Markup {
  const rows = routes.map(
    ({ method, path, spec }) =>
      html`<li>
        ${methodBadge(method)} <code>/${path}</code>
        <p>${phrase(spec.summary)}. Called by ${spec.calledBy}.</p>
      </li>`,
  );
  return html`<section id="addresses">
    <h2>Addresses for browsers and networks</h2>
    <p>
      No program of yours calls these. They are listed for those who set up networks, proxies and
      firewalls, and they are not in the OpenAPI document.
    </p>
    <ul class="overview">
      ${rows}
    </ul>
  </section>`;
}

function schemas(reader: DocumentReader): Markup {
  const refused = new Set(errorSchemas(reader.document).values());
  // The bodies that have the name of their operation are shown with it.
  const bodies = new Set(
    Object.values(reader.document.paths)
      .flatMap((operations) => Object.values(operations))
      .map(({ operationId }) => `${operationId.toLowerCase()}request`),
  );
  const shown = Object.entries(reader.document.components.schemas).filter(
    ([name, schema]) => !refused.has(schema) && !bodies.has(name.toLowerCase()),
  );
  return html`<section id="schemas">
    <h2>Schemas</h2>
    ${shown.map(
      ([name, schema]) =>
        html`<article id="schema-${name}">
          <h3>${name}</h3>
          ${schema.description !== undefined && prose(schema.description)}
          ${bodyFields(schema, reader) ?? html`<p class="type">${typeMarkup(schema)}</p>`}
        </article>`,
    )}
  </section>`;
}

function body(
  document: OpenApi,
  addresses: readonly Route[],
): { readonly nav: Markup; readonly main: Markup } {
  const reader = new DocumentReader(document);
  const { info, servers } = document;
  const main = html`<main id="content">
    <header>
      <h1>${info.title} API</h1>
      <p>${info.summary}</p>
      <p class="soft">
        Release ${info["x-release"]}, document ${info.version} · <code>${servers[0]?.url}</code>
      </p>
      <p>
        <a href="v1/openapi.json">OpenAPI document</a> · <a href="docs.md">Markdown</a> ·
        <a href="llms.txt">llms.txt</a>
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
    ${addressList(addresses)} ${schemas(reader)}
  </main>`;
  return { nav: contents(document), main };
}

const single = (text: string) => text.replace(/\n\s+/g, "\n");

/** Removes the indentation of the templates, but not that of code. */
function withoutIndentation(text: string): string {
  return text
    .split(/(<pre[^]*?<\/pre>)/)
    .map((part, index) => (index % 2 === 0 ? single(part) : part))
    .join("");
}

/** Renders the reference as an HTML page that loads nothing, and its content alone. */
export function docsPage(
  document: OpenApi,
  addresses: readonly Route[],
): { readonly page: string; readonly content: string } {
  const { nav, main } = body(document, addresses);
  const title = html`${document.info.title} API reference`;
  const content = withoutIndentation(main.text);
  const page = [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">`,
    `<title>${title.text}</title><link rel="icon" href="${FAVICON}">`,
    `<style>${DOCS_STYLE}</style></head><body><a class="skip" href="#content">To the content</a>`,
    `<div class="page">${withoutIndentation(nav.text)}${content}</div>`,
    `<script>${DOCS_SCRIPT}</script></body></html>`,
  ].join("\n");
  return { page, content };
}
