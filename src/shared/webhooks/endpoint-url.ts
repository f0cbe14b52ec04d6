import { validationFailed } from "../errors.ts";
import { refusedUrl } from "../outbound.ts";
import type { Services } from "../services.ts";

/** Development only: a host that the settings map to a stand-in may be any name. */
function isMapped({ config }: Services, { protocol, hostname, username, password }: URL): boolean {
  const isPlain = protocol === "https:" && username === "" && password === "";
  return isPlain && config.outbound.hostMap[hostname] !== undefined;
}

/** The address of an endpoint in its normal form. @throws AppError `validation_failed` with the reason */
export function endpointUrl(services: Services, text: string): string {
  const refuse = (reason: string) =>
    validationFailed([{ path: "url", code: "refused_url", message: reason }]);
  if (!URL.canParse(text)) throw refuse("not a URL");
  const url = new URL(text);
  const reason = isMapped(services, url) ? undefined : refusedUrl(text);
  if (reason !== undefined) throw refuse(reason);
  if (url.hash !== "") throw refuse("carries a fragment, which no server gets to see");
  return url.href;
}
