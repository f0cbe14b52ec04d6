import type { RequestScope } from "../shared/callers/scope.ts";
import {
  browserStep,
  plainNotice,
  type BrowserAnswer,
  type BrowserRequest,
  finishOAuth,
  finishVisit,
  submitForm,
  showDeletion,
  showPage,
} from "../shared/connections/connections.ts";
import type { AppError } from "../shared/runtime/errors.ts";
import { ERROR_CATALOG } from "../shared/runtime/error-catalog.ts";
import { chooseLocale } from "../shared/runtime/locale.ts";
import type { RefusedCall } from "../shared/http/route.ts";
import { Reply } from "../shared/http/reply.ts";
import type { Services } from "../shared/compose.ts";

export interface BrowserCall {
  readonly services: Services;
  readonly scope: RequestScope;
  readonly headers: Headers;
}

/** Runs a step of the hosted page. Its answer is a page or a redirect, never JSON. */
async function asPage(
  { services, scope, headers }: BrowserCall,
  step: (request: BrowserRequest) => Promise<BrowserAnswer>,
): Promise<Reply> {
  const { requestId, ip } = scope;
  const [cookie, fetchSite] = [headers.get("cookie"), headers.get("sec-fetch-site")];
  const language = chooseLocale(headers.get("accept-language"));
  const request = { requestId, ip, cookie, fetchSite, host: headers.get("host"), language };
  return new Reply(await browserStep(services.connections, request, () => step(request)));
}

/** Answers with a page for a request that was refused before a step ran, such as a form that is too long. */
async function asRefusedPage(refusal: AppError, call: RefusedCall): Promise<Reply> {
  const { services, headers, requestId, ip } = call;
  const status = ERROR_CATALOG[refusal.code].status;
  const isLater = status >= 500 || refusal.code === "rate_limited";
  return await asPage({ services, headers, scope: { requestId, ip } }, (request) =>
    isLater
      ? Promise.reject(refusal)
      : Promise.resolve(plainNotice(services.connections.config, request, "unreadable", status)),
  );
}

/** The steps of the hosted page. They have a part of the bundle of their own, because only browsers need them. */
export const connectPage = {
  asPage,
  asRefusedPage,
  finishOAuth,
  finishVisit,
  showDeletion,
  showPage,
  submitForm,
} as const;
