import { html, type Markup } from "../../src/shared/connections/connections.ts";
import { highlighted, type CodeLanguage } from "./docs-highlight.ts";
import type { OpenApiOperation, Parameter } from "./openapi-types.ts";

export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

interface SampleCall {
  readonly method: string;
  readonly address: string;
  /** The environment variable that has the credential, or undefined when none is needed. */
  readonly credential: string | undefined;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: unknown;
  readonly answers: "json" | "text" | "nothing";
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: "API_KEY",
  session: "SESSION",
  operator: "OPERATOR_TOKEN",
};

function exampleOf({ example, schema, name }: Parameter): string {
  const found = example ?? schema.examples?.[0] ?? schema.enum?.[0];
  return typeof found === "string" ? found : `{${name}}`;
}

/** Returns the address of a call with the examples of its parameters, as far as it can't do without them. */
export function addressOf(path: string, parameters: readonly Parameter[], baseUrl: string): string {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const address = inPath.reduce(
    (text, parameter) => text.replace(`{${parameter.name}}`, exampleOf(parameter)),
    baseUrl + path,
  );
  const inQuery = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const query = inQuery.map((parameter) => `${parameter.name}=${exampleOf(parameter)}`).join("&");
  return query === "" ? address : `${address}?${query}`;
}

function answerKind({ responses }: OpenApiOperation): SampleCall["answers"] {
  const [success] = Object.values(responses);
  if (success === undefined || !("content" in success) || success.content === undefined)
    return "nothing";
  return success.content["application/json"] === undefined ? "text" : "json";
}

function sampleCall(
  { method, path, operation }: PlacedOperation,
  parameters: readonly Parameter[],
  baseUrl: string,
): SampleCall {
  const [scheme] = operation.security.flatMap((one) => Object.keys(one));
  const headers = parameters.filter((parameter) => parameter.in === "header" && parameter.required);
  return {
    method,
    address: addressOf(path, parameters, baseUrl),
    credential: scheme === undefined ? undefined : CREDENTIALS[scheme],
    headers: headers.map((header) => [header.name, exampleOf(header)]),
    body: operation.requestBody?.content["application/json"]?.example,
    answers: answerKind(operation),
  };
}

const prettyJson = (value: unknown) => JSON.stringify(value, null, 2);
const indented = (text: string, by: string) => text.replaceAll("\n", `\n${by}`);
const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function curl({ method, address, credential, headers, body }: SampleCall): string {
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${shellQuoted(address)}`,
    ...(credential === undefined ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...headers.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${shellQuoted(prettyJson(body))}`]),
  ].join(" \\\n  ");
}

const READ_JAVASCRIPT = {
  json: "console.log(await response.json());",
  text: "console.log(await response.text());",
  nothing: "console.log(response.status);",
} as const;

function javaScript({ method, address, credential, headers, body, answers }: SampleCall): string {
  const shown = [
    ...(credential === undefined
      ? []
      : [`Authorization: \`Bearer \${process.env.${credential}}\`,`]),
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    ...(body === undefined ? [] : [`"Content-Type": "application/json",`]),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}",`]),
    ...(shown.length === 0 ? [] : [`headers: {\n    ${shown.join("\n    ")}\n  },`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(prettyJson(body), "  ")}),`]),
  ];
  const second = options.length === 0 ? "" : `, {\n  ${options.join("\n  ")}\n}`;
  return `const response = await fetch(${JSON.stringify(address)}${second});
${READ_JAVASCRIPT[answers]}`;
}

function pythonOf(value: unknown, indent: string): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value)
    ? value.map((item) => pythonOf(item, inner))
    : Object.entries(value).map(
        ([name, part]) => `${JSON.stringify(name)}: ${pythonOf(part, inner)}`,
      );
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${parts.map((part) => `${inner}${part},`).join("\n")}\n${indent}${close}`;
}

const READ_PYTHON = {
  json: "print(response.json())",
  text: "print(response.text)",
  nothing: "print(response.status_code)",
} as const;

function python({ method, address, credential, headers, body, answers }: SampleCall): string {
  const shown = [
    ...(credential === undefined
      ? []
      : [`"Authorization": f"Bearer {os.environ['${credential}']}",`]),
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ];
  const lines = [
    `${JSON.stringify(address)},`,
    ...(shown.length === 0 ? [] : [`headers={\n        ${shown.join("\n        ")}\n    },`]),
    ...(body === undefined ? [] : [`json=${pythonOf(body, "    ")},`]),
  ];
  const imports = credential === undefined ? "import requests" : "import os\nimport requests";
  const call = `requests.${method.toLowerCase()}(\n    ${lines.join("\n    ")}\n)`;
  return `${imports}\n\nresponse = ${call}\n${READ_PYTHON[answers]}`;
}

const LANGUAGES = [
  { title: "curl", language: "sh", write: curl },
  { title: "JavaScript", language: "js", write: javaScript },
  { title: "Python", language: "python", write: python },
] as const;

/** Renders code with a bar that says what it is; the script adds a button that copies it. */
export function codeBlock(title: string, language: CodeLanguage, text: string): Markup {
  return html`<div class="code">
    <div class="bar"><p>${title}</p></div>
    <pre class="${language}"><code>${highlighted(language, text)}</code></pre>
  </div>`;
}

/**
 * Renders the call in each language, ready to paste except for the reader's own credential and ids. The tabs are radio
 * buttons, so that they work without a script and with the keyboard.
 */
export function sampleBox(
  placed: PlacedOperation,
  parameters: readonly Parameter[],
  baseUrl: string,
): Markup {
  const call = sampleCall(placed, parameters, baseUrl);
  const { operationId } = placed.operation;
  const tabs = LANGUAGES.map(
    ({ title, language }, index) =>
      html`<label
        ><input
          type="radio"
          name="code-${operationId}"
          value="${language}"
          ${index === 0 && "checked"}
        />${title}</label
      >`,
  );
  const blocks = LANGUAGES.map(
    ({ language, write }) =>
      html`<pre class="${language}"><code>${highlighted(language, write(call))}</code></pre>`,
  );
  return html`<div class="code tabbed">
    <div class="bar">
      <fieldset>
        <legend>Language</legend>
        ${tabs}
      </fieldset>
    </div>
    ${blocks}
  </div>`;
}
