import { html, type Markup } from "../../src/shared/connections/connections.ts";
import {
  type DocumentReader,
  bodyFields,
  parameterField,
  phrase,
  prose,
  typeMarkup,
} from "./docs-schema.ts";
import { codeBlock, samples, type PlacedOperation } from "./docs-code.ts";
import type { Answer, OpenApiOperation, Parameter } from "./openapi-types.ts";

function parameterTable(parameters: readonly Parameter[], where: Parameter["in"], title: string) {
  const found = parameters.filter((parameter) => parameter.in === where);
  if (found.length === 0) return null;
  return html`<h4>${title}</h4>
    <ul class="fields">
      ${found.map((parameter) => parameterField(parameter.name, parameter.schema, parameter))}
    </ul>`;
}

function requestMarkup({ requestBody }: OpenApiOperation, reader: DocumentReader) {
  const [found] = Object.entries(requestBody?.content ?? {});
  if (found === undefined) return null;
  const [type, { schema }] = found;
  return html`<h4>Body</h4>
    <p class="soft">${type}${requestBody?.required === false && ", may be left out"}</p>
    ${bodyFields(schema, reader)}`;
}

/** Headers that the guide describes once for all answers. */
const COMMON_HEADER = /^(X-|Cache-|Strict-|RateLimit-)/;

function success(status: string, { description, content, headers }: Answer): Markup {
  const own = Object.keys(headers).filter((name) => !COMMON_HEADER.test(name));
  const json = content?.["application/json"];
  const data = json?.schema.properties?.["data"];
  return html`<li>
    <span class="status">${status}</span> ${phrase(description)}
    ${data !== undefined && html`<span class="type">data: ${typeMarkup(data)}</span>`}
    ${content?.["text/html"] !== undefined && html`<span class="type">an HTML page</span>`}
    ${own.length > 0 && html`<span class="type">with ${own.join(", ")}</span>`}
  </li>`;
}

function refusalMarkup(status: string, codes: readonly string[]): Markup {
  const links = codes.map((code) => html`<a href="#error-${code}"><code>${code}</code></a> `);
  return html`<li><span class="status">${status}</span> ${links}</li>`;
}

function answersOf({ responses }: OpenApiOperation, reader: DocumentReader): Markup {
  const answers = Object.entries(responses).map(([status, answer]) => {
    const found = reader.answer(answer);
    return { status, found, codes: reader.codes(found) };
  });
  const refused = answers.filter(({ codes }) => codes.length > 0);
  return html`<h4>Answers</h4>
    <ul class="answers">
      ${answers
        .filter(({ codes }) => codes.length === 0)
        .map(({ status, found }) => success(status, found))}
    </ul>
    <h4>Errors</h4>
    <ul class="answers errors">
      ${refused.map(({ status, codes }) => refusalMarkup(status, codes))}
    </ul>`;
}

/** Shows the answer of the first success, if its route has an example. */
function exampleAnswer({ responses }: OpenApiOperation, reader: DocumentReader): Markup | null {
  for (const [status, answer] of Object.entries(responses)) {
    const example = reader.answer(answer).content?.["application/json"]?.example;
    if (example !== undefined)
      return codeBlock(`Answer ${status}`, "json", JSON.stringify(example, null, 2));
  }
  return null;
}

export function operationSection(placed: PlacedOperation, reader: DocumentReader): Markup {
  const { method, path, operation } = placed;
  const parameters = (operation.parameters ?? []).map((one) => reader.parameter(one));
  const baseUrl = reader.document.servers[0]?.url ?? "";
  const { operationId, description } = operation;
  return html`<article id="${operationId}">
    <div class="about">
      <h3><a href="#${operationId}">${phrase(operation.summary)}</a></h3>
      <p class="place">
        <span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>
      </p>
      ${description !== undefined && prose(description)}
      <p class="soft">Who may call: ${phrase(operation["x-callers"])}.</p>
      ${parameterTable(parameters, "path", "In the path")}
      ${parameterTable(parameters, "query", "In the query")}
      ${parameterTable(parameters, "header", "Headers")} ${requestMarkup(operation, reader)}
      ${answersOf(operation, reader)}
    </div>
    <div class="samples">
      ${samples(placed, parameters, baseUrl)} ${exampleAnswer(operation, reader)}
    </div>
  </article>`;
}
