import { html, type Markup } from "../../src/shared/connections/connections.ts";
import {
  type DocumentReader,
  bodyFields,
  parameterField,
  phrase,
  prose,
  typeMarkup,
} from "./docs-schema.ts";
import { addressOf, codeBlock, sampleBox, type PlacedOperation } from "./docs-code.ts";
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

/** Codes that the chapter of errors explains once, for every call with a credential. */
const COMMON_TO_CALLERS: ReadonlySet<string> = new Set([
  "unauthenticated",
  "invalid_credentials",
  "api_key_revoked",
  "api_key_expired",
  "session_expired",
  "application_disabled",
  "platform_suspended",
  "platform_closed",
  "email_unverified",
]);

/** Codes of every request, with and without a credential. */
const COMMON_TO_ALL: ReadonlySet<string> = new Set([
  "invalid_json",
  "idempotency_key_invalid",
  "length_required",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal_error",
  "service_unavailable",
]);

interface Refusal {
  readonly status: string;
  readonly codes: readonly string[];
}

function refusalList(refusals: readonly Refusal[]): Markup {
  const rows = refusals.map(({ status, codes }) => {
    const links = codes.map((code) => html`<a href="#error-${code}"><code>${code}</code></a> `);
    return html`<li><span class="status">${status}</span> ${links}</li>`;
  });
  return html`<ul class="answers errors">
    ${rows}
  </ul>`;
}

/** Returns the refusals with the codes that a test admits, without those that have none. */
function refusalsWith(refusals: readonly Refusal[], isWanted: (code: string) => boolean) {
  return refusals
    .map(({ status, codes }) => ({ status, codes: codes.filter(isWanted) }))
    .filter(({ codes }) => codes.length > 0);
}

function answersOf(operation: OpenApiOperation, reader: DocumentReader): Markup {
  const { responses, security, parameters = [] } = operation;
  const answers = Object.entries(responses).map(([status, answer]) => {
    const found = reader.answer(answer);
    return { status, found, codes: found["x-codes"] ?? [] };
  });
  const takesKey = parameters.some((one) => "$ref" in one && one.$ref.includes("Idempotency-Key"));
  const isCommon = (code: string) =>
    (COMMON_TO_ALL.has(code) && !(takesKey && code === "idempotency_key_invalid")) ||
    (security.length > 0 && COMMON_TO_CALLERS.has(code));
  const own = refusalsWith(answers, (code) => !isCommon(code));
  const common = refusalsWith(answers, isCommon);
  return html`<h4>Answers</h4>
    <ul class="answers">
      ${answers
        .filter(({ codes }) => codes.length === 0)
        .map(({ status, found }) => success(status, found))}
    </ul>
    ${
      (own.length > 0 || common.length > 0) &&
      html`<h4>Errors</h4>
        ${own.length > 0 && refusalList(own)}
        ${
          common.length > 0 &&
          html`<details>
            <summary>Common errors: ${common.map(({ status }) => status).join(", ")}</summary>
            ${refusalList(common)}
          </details>`
        }`
    }`;
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
  const { operationId, description, requestBody, security } = operation;
  const body = requestBody?.content["application/json"]?.example;
  // What the script needs to send the call with the key of a local run.
  const isTried = security.some((one) => "apiKey" in one);
  const tried =
    isTried &&
    html`data-try="${body === undefined ? "" : JSON.stringify(body)}"
    data-query="${addressOf("", parameters, "")}"`;
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
    <div class="samples" ${tried}>
      ${sampleBox(placed, parameters, baseUrl)} ${exampleAnswer(operation, reader)}
    </div>
  </article>`;
}
