import { invariant } from "../../runtime/errors.ts";
import type { Answer, JsonSchema, OpenApi, Parameter, Reference } from "./openapi-types.ts";

const lastPart = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

export const schemaName = ({ $ref }: JsonSchema): string | undefined =>
  $ref === undefined ? undefined : lastPart($ref);

/** Finds the parts of an OpenAPI document by their references. */
export class DocumentReader {
  readonly document: OpenApi;

  constructor(document: OpenApi) {
    this.document = document;
  }

  #find<T>(kind: Readonly<Record<string, T>>, { $ref }: Reference): T {
    const found = kind[lastPart($ref)];
    invariant(found !== undefined, `the document has no ${$ref}`);
    return found;
  }

  schema(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    return $ref === undefined ? schema : this.#find(this.document.components.schemas, { $ref });
  }

  parameter(parameter: Parameter | Reference): Parameter {
    return "$ref" in parameter
      ? this.#find(this.document.components.parameters, parameter)
      : parameter;
  }

  answer(answer: Answer | Reference): Answer {
    return "$ref" in answer ? this.#find(this.document.components.responses, answer) : answer;
  }

  /** Returns the error codes of an answer; none for a success. */
  codes({ content }: Answer): string[] {
    const schema = content?.["application/json"]?.schema;
    if (schema === undefined) return [];
    return (schema.anyOf ?? [schema]).flatMap((branch) => {
      const code = this.schema(branch).properties?.["error"]?.properties?.["code"]?.const;
      return typeof code === "string" ? [code] : [];
    });
  }
}
