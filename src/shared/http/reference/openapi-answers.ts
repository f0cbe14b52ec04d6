import { STATUS_CODES } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { declaredAnswers, type DeclaredAnswer } from "../declared-answers.ts";
import type { SchemaCatalog } from "./openapi-schemas.ts";
import type { Answer, Content, Reference } from "./openapi-types.ts";
import type { Route } from "../route.ts";

/** The example of a success, in its envelope. */
function exampleBody({ spec }: Route): unknown {
  const answer = spec.examples?.().answer;
  if (answer === undefined) return undefined;
  if (spec.list !== true) return { data: answer };
  return { data: [answer], page: { nextCursor: null, hasMore: false, limit: 25 } };
}

function contentOf(
  route: Route,
  { status, body, isPage, isImage }: DeclaredAnswer,
  schemas: SchemaCatalog,
): Record<string, Content> {
  const content: Record<string, Content> = {};
  if (isPage) content["text/html"] = { schema: { type: "string" } };
  if (isImage) content["image/*"] = { schema: {} };
  if (body === undefined) return content;
  // Of several successes the declared status is the one that the example shows.
  const example = status === route.spec.status ? exampleBody(route) : undefined;
  const schema = schemas.add(body, "output");
  content["application/json"] = { schema, ...(example === undefined ? {} : { example }) };
  return content;
}

function toAnswer(route: Route, declared: DeclaredAnswer, schemas: SchemaCatalog): Answer {
  const content = contentOf(route, declared, schemas);
  const { description, headers } = declared;
  return {
    description,
    headers: Object.fromEntries(
      headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/** The answers of all routes. Refusals are alike on many of them, and are written once. */
export class AnswerCatalog {
  readonly #schemas: SchemaCatalog;
  readonly #refusals = new Map<string, Answer>();

  constructor(schemas: SchemaCatalog) {
    this.#schemas = schemas;
  }

  of(route: Route): Readonly<Record<string, Answer | Reference>> {
    return Object.fromEntries(
      declaredAnswers(route).map((declared) => {
        const answer = toAnswer(route, declared, this.#schemas);
        const isRefusal = declared.codes.length > 0;
        return [
          String(declared.status),
          isRefusal ? this.#refuse(declared.status, answer) : answer,
        ];
      }),
    );
  }

  /** `Unauthorized`, `Unauthorized2` …: whichever of them has the same codes and headers. */
  #refuse(status: number, answer: Answer): Reference {
    const base = (STATUS_CODES[status] ?? "").replace(/[^A-Za-z]/g, "");
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}${number}`;
      const known = this.#refusals.get(name);
      if (known !== undefined && !isDeepStrictEqual(known, answer)) continue;
      this.#refusals.set(name, answer);
      return { $ref: `#/components/responses/${name}` };
    }
  }

  components(): Readonly<Record<string, Answer>> {
    return Object.fromEntries(
      [...this.#refusals].sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  }
}
