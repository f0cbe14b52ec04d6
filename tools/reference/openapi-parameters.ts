import * as z from "zod";
import { networkName } from "../../src/shared/networks/answer-schema.ts";
import { invariant } from "../../src/shared/runtime/errors.ts";
import { idOf } from "../../src/shared/runtime/fields.ts";
import { shape, type Shape } from "../../src/shared/runtime/shape.ts";
import { accessContractOf } from "./declared-answers.ts";
import { REQUEST_HEADERS, type RequestHeader } from "../../src/shared/http/headers.ts";
import type { SchemaCatalog } from "./openapi-catalogs.ts";
import type { Parameter, Reference } from "./openapi-types.ts";
import { LINK_PAGES } from "../../src/shared/people/links/schema.ts";
import type { Route } from "../../src/shared/http/route.ts";

const PATH_PARAMETERS: Readonly<Record<string, Shape<z.ZodType>>> = {
  applicationId: () => idOf("application"),
  code: shape(() =>
    z
      .string()
      .describe("The `confirmation_code` of a deletion.")
      .meta({ examples: ["8f14e45fceea167a5a36dedd4bea2543a1b2c3d4"] }),
  ),
  connectionId: () => idOf("connection"),
  deliveryId: () => idOf("delivery"),
  keyId: () => idOf("key"),
  mediaId: () => idOf("file"),
  kind: shape(() => z.enum(LINK_PAGES).describe("The purpose of the link.")),
  network: networkName,
  platformId: () => idOf("platform"),
  postId: () => idOf("post"),
  profileId: () => idOf("profile"),
  server: () =>
    z
      .string()
      .describe("The server's host name in lower case and punycode; `_` and its port.")
      .meta({
        examples: ["mastodon.social"],
      }),
  sessionId: () => idOf("connectSession"),
  userId: () => idOf("user"),
  invitationId: () => idOf("invitation"),
  webhookId: () => idOf("endpoint"),
  token: shape(() =>
    z
      .string()
      .describe("Sealed: names the file, and until when the address is valid.")
      .meta({ examples: ["v1.k1.c2VhbGVk.dGV4dA.dGFn"] }),
  ),
};

/** Returns the schema of a query parameter. For a number, which is text there, it is that of the parsed value. */
function meaning(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault) {
    const inner = meaning(schema.unwrap() as z.ZodType);
    return inner === schema.unwrap() ? schema : inner.meta({ default: schema.def.defaultValue });
  }
  if (!(schema instanceof z.ZodPipe)) return schema;
  return schema.out instanceof z.ZodNumber ? schema.out : schema;
}

function make(
  catalog: SchemaCatalog,
  name: string,
  where: Parameter["in"],
  { schema: described, required }: { readonly schema: z.ZodType; readonly required: boolean },
): Parameter {
  const { description: own, examples, ...schema } = catalog.add(meaning(described), "input");
  const [example] = examples ?? [];
  const description = described.description ?? own;
  return {
    name,
    in: where,
    required,
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example === undefined ? {} : { example }),
  };
}

function pathParameters({ path }: Route, catalog: SchemaCatalog): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    const schema = PATH_PARAMETERS[name];
    invariant(schema !== undefined, `PATH_PARAMETERS does not say what {${name}} is`);
    return make(catalog, name, "path", { schema: schema(), required: true });
  });
}

function queryParameters({ spec }: Route, catalog: SchemaCatalog): Parameter[] {
  const fields = spec.bodyKind === "form" ? undefined : (spec.browserFields ?? spec.query)?.();
  if (!(fields instanceof z.ZodObject)) return [];
  // Safe: the fields of a schema of classic zod are schemas of classic zod.
  const entries = Object.entries(fields.shape) as [string, z.ZodType][];
  return entries.map(([name, schema]) => {
    const required = !schema.safeParse(undefined).success;
    return make(catalog, name, "query", { schema, required });
  });
}

const componentName = (name: RequestHeader, required: boolean) =>
  required ? `${name}-Required` : name;

function routeHeaders(route: Route): readonly { name: RequestHeader; required: boolean }[] {
  const own = (route.spec.headers ?? []).map((name) => ({ name, required: true }));
  return [...own, ...accessContractOf(route).headers];
}

/** Returns the parameters of a route. Headers are components, because many routes accept the same. */
export function parametersOf(route: Route, catalog: SchemaCatalog): (Parameter | Reference)[] {
  return [
    ...pathParameters(route, catalog),
    ...queryParameters(route, catalog),
    ...routeHeaders(route).map(({ name, required }) => ({
      $ref: `#/components/parameters/${componentName(name, required)}`,
    })),
  ];
}

export function headerComponents(
  routes: readonly Route[],
  catalog: SchemaCatalog,
): Readonly<Record<string, Parameter>> {
  const used = new Map(
    routes
      .flatMap(routeHeaders)
      .map(({ name, required }) => [componentName(name, required), { name, required }]),
  );
  return Object.fromEntries(
    [...used].map(([component, { name, required }]) => [
      component,
      make(catalog, name, "header", { schema: REQUEST_HEADERS[name](), required }),
    ]),
  );
}
