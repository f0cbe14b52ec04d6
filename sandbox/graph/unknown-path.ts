import { consentErrorPage } from "../consent-page.ts";
import { htmlPage } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { graphError } from "./errors.ts";

interface SorryPage {
  readonly network: string;
  /** Where people look; everywhere else an app asked. */
  readonly host: string;
  readonly title: string;
  readonly message: string;
}

export function unknownPath({ host, path }: Exchange, page: SorryPage): Answer {
  return host === page.host
    ? htmlPage(404, consentErrorPage(page.network, page.title, page.message))
    : graphError({ message: `Unknown path components: ${path}`, code: 2500 });
}
