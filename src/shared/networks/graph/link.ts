import type * as z from "zod";
import { exchange } from "../contract/answers.ts";
import { readCode } from "../contract/oauth.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type LinkFailure, type OAuthFlow, linkFailed } from "../contract/link.ts";
import type { NetworkApp } from "../contract/settings.ts";
import type { NetworkTools } from "../contract/tools.ts";

/** Returns the code of a callback, or why there is none. */
export function readCallback(params: Readonly<Record<string, string>>): string | LinkFailure {
  const { error_code: errorCode, error_message: message, code = "" } = params;
  if (params["error"] === undefined && errorCode !== undefined)
    return linkFailed("network_unavailable", `${errorCode} ${message ?? ""}`);
  // Meta puts `#_` or `#_=_` behind everything that it sends back.
  return readCode({ ...params, code: code.replace(/#_(?:=_)?$/, "") });
}

/** Returns the redirect to the dialog. Nothing has to be kept for the callback. */
export function redirect(
  dialog: string,
  query: Readonly<Record<string, string>>,
): ReturnType<OAuthFlow["start"]> {
  const url = `${dialog}?${new URLSearchParams(query).toString()}`;
  return Promise.resolve({ kind: "redirect", url, flow: {} });
}

/** Returns the permissions that the app asks for besides and that were not granted. */
export function lackedExtras(
  granted: readonly string[],
  app: NetworkApp | undefined,
): readonly string[] {
  return (app?.extraScopes ?? []).filter((name) => !granted.includes(name));
}

interface Step<Shape extends z.ZodType> {
  readonly request: HttpRequest;
  readonly shape: Shape;
  readonly refuse: (answer: HttpResponse) => LinkFailure;
}

/** Makes one call of linking and reads its answer by its shape. */
export async function readStep<Shape extends z.ZodType>(
  { request, shape, refuse }: Step<Shape>,
  tools: NetworkTools,
): Promise<z.infer<Shape> | LinkFailure> {
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return linkFailed("network_unavailable", answer.message);
  const parsed = shape.safeParse(answer.json());
  return answer.status === 200 && parsed.success ? parsed.data : refuse(answer);
}
