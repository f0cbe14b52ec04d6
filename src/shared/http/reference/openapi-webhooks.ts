import { event } from "../../webhooks/answer-schema.ts";
import { eventExample } from "../../webhooks/examples.ts";
import type { SchemaCatalog } from "./openapi-schemas.ts";
import type { Operation, Parameter } from "./openapi-types.ts";

function header(name: string, description: string): Parameter {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}

/** What a receiver is sent: the one description of a request that we make. */
export function webhooksOf(
  tag: string,
  schemas: SchemaCatalog,
): Record<string, { post: Operation }> {
  return {
    event: {
      post: {
        operationId: "receiveEvent",
        tags: [tag],
        summary: "An event, sent to an endpoint of yours",
        description:
          "Verify the signature, answer 2xx within 10 seconds, and work afterwards. The same event can come more than once.",
        "x-callers": "the relay",
        security: [],
        parameters: [
          header(
            "X-Social-Restapi-Signature",
            "`t=<unix seconds>,v1=<hex>`, two `v1` in a rotation.",
          ),
          header("X-Social-Restapi-Event", "The event's type."),
          header("X-Social-Restapi-Delivery", "The delivery's id: another one for every redrive."),
          header("X-Social-Restapi-Attempt", "Which attempt of the delivery this is, from 1."),
          header("webhook-id", "The event's id, as Standard Webhooks has it."),
          header("webhook-timestamp", "When this attempt was signed, in seconds."),
          header("webhook-signature", "The signature as Standard Webhooks has it."),
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
