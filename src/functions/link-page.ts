import type { RequestScope } from "../shared/callers/scope.ts";
import type { Services } from "../shared/compose.ts";
import { ERROR_CATALOG } from "../shared/runtime/error-catalog.ts";
import { Reply } from "../shared/http/reply.ts";
import type { RefusedCall } from "../shared/http/route.ts";
import type { AppError } from "../shared/runtime/errors.ts";
import {
  refuseLink,
  showLink,
  showNoticesPage,
  switchOffByPage,
  useLink,
} from "../shared/people/people.ts";

interface PageCall {
  readonly services: Services;
  readonly scope: RequestScope;
  readonly headers: Headers;
}

interface LinkCall extends PageCall {
  readonly params: { readonly kind: string };
}

type LinkFormFields = Readonly<Record<string, string>>;

const visitOf = ({ scope, headers, params }: LinkCall, fields: LinkFormFields) => ({
  scope,
  headers,
  kind: params.kind,
  fields,
});

/** The pages behind one-time links. They have a part of the bundle of their own, because only browsers need them. */
export const linkPage = {
  show: async (call: LinkCall, fields: LinkFormFields) =>
    new Reply(await showLink(call.services.people, visitOf(call, fields))),
  use: async (call: LinkCall, fields: LinkFormFields) =>
    new Reply(await useLink(call.services.people, visitOf(call, fields))),
  showNotices: async ({ services, scope, headers }: PageCall, { token = "" }: LinkFormFields) =>
    new Reply(await showNoticesPage(services.people, { scope, headers, token })),
  switchNotices: async ({ services, scope, headers }: PageCall, { token = "" }: LinkFormFields) =>
    new Reply(await switchOffByPage(services.people, { scope, headers, token })),
  refuse: (error: AppError, { services, headers }: RefusedCall) =>
    new Reply(
      refuseLink(services.people.config, headers, {
        code: error.code,
        status: ERROR_CATALOG[error.code].status,
        retryAfterSeconds: error.retryAfterSeconds,
      }),
    ),
} as const;
