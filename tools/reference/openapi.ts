import { event } from "../../src/shared/webhooks/answer-schema.ts";
import { eventExample } from "../../src/shared/webhooks/examples.ts";
import type { CredentialKind } from "../../src/shared/http/access/access-contract.ts";
import { ERROR_CODES } from "../../src/shared/runtime/error-catalog.ts";
import { accessContractOf, anyError, declaredAnswers, errorBody } from "./declared-answers.ts";
import { ANSWER_HEADERS } from "../../src/shared/http/headers.ts";
import type { Chapter, Route } from "../../src/shared/http/route.ts";
import { API_GUIDE } from "./api-guide.ts";
import { AnswerCatalog, SchemaCatalog } from "./openapi-catalogs.ts";
import { headerComponents, parametersOf } from "./openapi-parameters.ts";
import type { Header, OpenApi, OpenApiOperation, Parameter } from "./openapi-types.ts";

function header(name: string, description: string): Parameter {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}

/** Describes the request that a webhook endpoint gets, the only request that the relay itself sends. */
function webhooksOf(
  tag: string,
  schemas: SchemaCatalog,
): Record<string, { post: OpenApiOperation }> {
  return {
    event: {
      post: {
        operationId: "receiveEvent",
        tags: [tag],
        summary: "Receive an event",
        description:
          "An event, sent to an endpoint of yours. Verify the signature, answer 2xx within 10 seconds, and work afterwards. The same event can come more than once.",
        "x-callers": "the relay",
        security: [],
        parameters: [
          header(
            "webhook-id",
            "The event's id. With the next two headers, libraries of Standard Webhooks verify the delivery.",
          ),
          header("webhook-timestamp", "When this attempt was signed, in seconds."),
          header("webhook-signature", "The signature as Standard Webhooks has it."),
          header(
            "X-Social-Restapi-Signature",
            "A second form of the signature: `t=<unix seconds>,v1=<hex>`, two `v1` in a rotation.",
          ),
          header("X-Social-Restapi-Event", "The event's type."),
          header("X-Social-Restapi-Delivery", "The delivery's id: another one for every redrive."),
          header("X-Social-Restapi-Attempt", "Which attempt of the delivery this is, from 1."),
        ],
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: schemas.add(event(), "output"), example: eventExample() },
          },
        },
        responses: {
          "2XX": { description: "Delivered.", headers: {} },
          "410": { description: "Disables the endpoint.", headers: {} },
          default: { description: "Tried again later.", headers: {} },
        },
      },
    },
  };
}

/** Version of the document, as its specification has it. It is not the version of a release of ours. */
const DOCUMENT_VERSION = "0.2.0";
/** The release that this document comes with, as `package.json` names it. */
const RELEASE = "1.0.0-rc";

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";

const SECURITY_SCHEMES = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "sk_live_…",
    description:
      "An application's API key. For servers only: never in browsers, apps or public repositories.",
  },
  session: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A dashboard session, from sign-up or login; valid for 12 hours.",
  },
  operator: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "An access token of the operators' identity provider, with their app roles.",
  },
} as const satisfies Record<CredentialKind, object>;

const pascal = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

function requestBodyOf(
  { method, spec }: Route,
  catalog: SchemaCatalog,
): OpenApiOperation["requestBody"] {
  const { operationId, bodyKind, browserFields } = spec;
  const body = spec.body?.();
  if (body === undefined) return undefined;
  if (bodyKind === "form")
    return {
      required: true,
      content: { [FORM_TYPE]: { schema: catalog.add(browserFields?.() ?? body, "input") } },
    };
  const example = spec.examples?.().body;
  const direction = method === "PATCH" ? "change" : "body";
  return {
    // An absent body is read as `{}`.
    required: !body.safeParse({}).success,
    content: {
      [JSON_TYPE]: {
        schema: catalog.addAs(`${pascal(operationId)}Request`, body, direction),
        ...(example === undefined ? {} : { example }),
      },
    },
  };
}

interface Catalogs {
  readonly schemas: SchemaCatalog;
  readonly answers: AnswerCatalog;
}

function toOperation(route: Route, tag: string, { schemas, answers }: Catalogs): OpenApiOperation {
  const { operationId, summary, description } = route.spec;
  const { callers, credentials } = accessContractOf(route);
  const parameters = parametersOf(route, schemas);
  const requestBody = requestBodyOf(route, schemas);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    "x-callers": callers,
    security: credentials.map((kind) => ({ [kind]: [] })),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: answers.of(route),
  };
}

function toPaths(chapters: readonly Chapter[], catalogs: Catalogs): OpenApi["paths"] {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const { name, routes } of chapters)
    for (const route of routes) {
      const operations = (paths[`/${route.path}`] ??= {});
      operations[route.method.toLowerCase()] = toOperation(route, name, catalogs);
    }
  return paths;
}

function headersOfAnswers(
  routes: readonly Route[],
  catalog: SchemaCatalog,
): Record<string, Header> {
  const used = new Set<string>(routes.flatMap(declaredAnswers).flatMap(({ headers }) => headers));
  return Object.fromEntries(
    Object.entries(ANSWER_HEADERS)
      .filter(([name]) => used.has(name))
      .map(([name, schemaOf]) => {
        const { description, ...schema } = catalog.add(schemaOf(), "output");
        return [name, { ...(description === undefined ? {} : { description }), schema }];
      }),
  );
}

/** Describes these routes as an OpenAPI document. */
export function openApi(
  chapters: readonly Chapter[],
  baseUrl: string,
  serviceName: string,
): OpenApi {
  const schemas = new SchemaCatalog();
  const answers = new AnswerCatalog(schemas);
  schemas.add(anyError(), "output");
  // No answer refers to these: they have the details of each code.
  for (const code of ERROR_CODES) schemas.add(errorBody([code]), "output");
  const paths = toPaths(chapters, { schemas, answers });
  const webhooks = webhooksOf("Webhooks", schemas);
  const routes = chapters.flatMap((chapter) => chapter.routes);
  const parameters = headerComponents(routes, schemas);
  const headers = headersOfAnswers(routes, schemas);
  return {
    openapi: "3.1.1",
    info: {
      title: serviceName,
      version: DOCUMENT_VERSION,
      "x-release": RELEASE,
      summary: "One post in, many social networks out.",
      description: API_GUIDE.map(({ title, text }) => `## ${title}\n\n${text}`).join("\n\n"),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This deployment." }],
    tags: chapters.map(({ name, about }) => ({ name, description: about })),
    paths,
    webhooks,
    components: {
      schemas: schemas.components(),
      parameters,
      responses: answers.components(),
      headers,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}
