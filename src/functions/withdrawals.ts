import * as z from "zod";
import { receiveWithdrawal, withdrawalSenders } from "../shared/connections/connections.ts";
import { openingLink, signingIn } from "../shared/http/access/access.ts";
import { document } from "../shared/http/reply.ts";
import { route, type Route } from "../shared/http/route.ts";
import type { WithdrawalNotices } from "../shared/networks/contract/network.ts";
import { onPage, refusedConnectPage } from "./on-page.ts";
import { shape } from "../shared/runtime/shape.ts";

const SIGNED_CHARACTERS_MAX = 4_096;

/** Makes the routes that a network, or a company with several, calls when a person withdraws an authorization. */
function routesOf({ sender, field }: WithdrawalNotices): readonly Route[] {
  const title = sender.charAt(0).toUpperCase() + sender.slice(1);
  const body = shape((): z.ZodType<Readonly<Record<string, string>>> =>
    z.object({ [field]: z.string().max(SIGNED_CHARACTERS_MAX) }),
  );
  const signed = {
    access: signingIn,
    body,
    bodyKind: "form",
    produces: "document",
  } as const;
  return [
    route("POST", `v1/connect/${sender}/deauthorize`, {
      ...signed,
      operationId: `receive${title}Deauthorization`,
      summary: `Where ${title} reports a person who removed the app`,
      calledBy: title,
      description:
        "All connections of that person end. They become `revoked`, their tokens are purged, and a `connection.removed` event has the `reason`. The answer is the same for an unknown person.",
      async run({ services, body: fields }) {
        await receiveWithdrawal(services.connections, sender, fields);
        return document({});
      },
    }),
    route("POST", `v1/connect/${sender}/delete`, {
      ...signed,
      operationId: `receive${title}Deletion`,
      summary: `Where ${title} reports a person who asks for deletion`,
      calledBy: title,
      description:
        "All connections of that person end, as for a removed app. Returns `url`, where the person can see the progress for 90 days, and `confirmation_code`.",
      async run({ services, body: fields }) {
        const code = await receiveWithdrawal(services.connections, sender, fields);
        const url = `${services.config.publicBaseUrl}/v1/connect/${sender}/deletion/${code}`;
        return document({ url, confirmation_code: code });
      },
    }),
    route("GET", `v1/connect/${sender}/deletion/{code}`, {
      operationId: `show${title}Deletion`,
      summary: "Shows the person who asked for a deletion whether it was received or is done",
      calledBy: "browsers",
      access: openingLink,
      refused: refusedConnectPage,
      produces: "page",
      answers: {
        200: "It was received, or is done.",
        404: "There is none with this code.",
        429: "Too many attempts.",
        500: "An error on our side. It was logged.",
        503: "Not possible right now.",
      },
      run: onPage(({ showDeletion }, request, { services, params }) =>
        showDeletion(services.connections, request, params.code),
      ),
    }),
  ];
}

export function withdrawalRoutes(): readonly Route[] {
  return withdrawalSenders().flatMap(routesOf);
}
