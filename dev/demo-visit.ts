import { unescapeHtml } from "../src/shared/networks/contract/text.ts";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../sandbox/bluesky/state.ts";
import { STRICT_HOST } from "../sandbox/mastodon/state.ts";

const STEPS_MAX = 12;
const TIMEOUT_MS = 30_000;

/** What the demo's end user types; a network without an entry asks for nothing on our page. */
const LOG_INS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bluesky: { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD },
  mastodon: { instance: STRICT_HOST },
};

/**
 * Links one network on the hosted page as an end user's browser does: its form, and where the network has an
 * authorization page, that page's form as well.
 */
export async function linkInBrowser(connectUrl: string, network: string): Promise<void> {
  const address = new URL(connectUrl);
  const browser = new Browser();
  const form = { ...Object.fromEntries(address.searchParams), ...LOG_INS[network] };
  let page = await browser.open(new URL(`ui/${network}`, address), form);
  for (let step = 0; page.url.origin !== address.origin; step += 1) {
    if (step === STEPS_MAX) throw new Error(`${network}: its pages lead nowhere`);
    const { action, fields } = readForm(page);
    page = await browser.open(action, fields);
  }
  const choice = readChoice(page, network);
  if (choice !== undefined) page = await browser.open(choice.action, choice.fields);
  if (page.status >= 400) throw new Error(`${network} was not linked: ${readAlert(page.html)}`);
}

interface Page {
  readonly url: URL;
  readonly status: number;
  readonly html: string;
}

class Browser {
  readonly #cookies = new Map<string, string>();

  /** Sends a form and follows where that leads. */
  async open(url: URL, form: Readonly<Record<string, string>>): Promise<Page> {
    let answer = await this.#send(url, new URLSearchParams(form));
    let at = url;
    for (let hop = 0; hop < STEPS_MAX; hop += 1) {
      const location = answer.headers.get("location");
      if (answer.status < 300 || answer.status >= 400 || location === null)
        return { url: at, status: answer.status, html: await answer.text() };
      await answer.body?.cancel();
      at = new URL(location, at);
      answer = await this.#send(at);
    }
    throw new Error(`too many redirects, the last one to ${at.origin}${at.pathname}`);
  }

  async #send(url: URL, form?: URLSearchParams): Promise<Response> {
    const cookie = this.#cookies.get(url.host);
    const answer = await fetch(url, {
      redirect: "manual",
      headers: cookie === undefined ? {} : { cookie },
      ...(form === undefined ? {} : { method: "POST", body: form }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const set = answer.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
    if (set.length > 0) this.#cookies.set(url.host, set.join("; "));
    return answer;
  }
}

function attributes(tag: string): Record<string, string> {
  const pairs = [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [
    name,
    unescapeHtml(value),
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** The form of a sandbox page, which is markup of our own making, with what is chosen already and its first button. */
function readForm({ url, html }: Page): { action: URL; fields: Record<string, string> } {
  const form = /<form\b[^>]*>[\s\S]*?<\/form>/.exec(html)?.[0];
  if (form === undefined) throw new Error(`${url.origin}${url.pathname} shows no form`);
  const inputs = [...form.matchAll(/<input\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => !/type="(?:radio|checkbox)"/.test(tag) || /\schecked\b/.test(tag));
  const button = /<button\b[^>]*>/.exec(form)?.[0];
  const fields: Record<string, string> = {};
  for (const tag of [...inputs, button ?? ""]) {
    const { name, value = "" } = attributes(tag);
    if (name !== undefined) fields[name] = value;
  }
  const action = attributes(/<form\b[^>]*>/.exec(form)?.[0] ?? "")["action"] ?? "";
  return { action: new URL(action, url), fields };
}

/** Our own page's form that asks which of several accounts to link, with the first of them chosen. */
function readChoice({ url, html }: Page, network: string): ReturnType<typeof readForm> | undefined {
  const forms = [...html.matchAll(/<form\b[^>]*>[\s\S]*?<\/form>/g)].map(([form]) => form);
  const form = forms.find(
    (one) => one.includes(`/ui/${network}"`) && one.includes('name="candidate"'),
  );
  if (form === undefined) return undefined;
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input\b[^>]*>/g)) {
    const { name = "", value = "" } = attributes(tag);
    fields[name] ??= value;
  }
  const action = attributes(/<form\b[^>]*>/.exec(form)?.[0] ?? "")["action"] ?? "";
  return { action: new URL(action, url), fields };
}

function readAlert(html: string): string {
  const alert = /role="alert"[^>]*>([^<]*)/.exec(html)?.[1];
  const title = /<title>([^<]*)/.exec(html)?.[1];
  return (alert ?? title ?? "the page says nothing").trim();
}
