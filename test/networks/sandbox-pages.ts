import { beforeEach, expect } from "vitest";
import { DEMO_FACEBOOK_APP, DEMO_PAGE } from "../../dev/networks/facebook/state.ts";
import type { Sandbox } from "../../dev/networks/server.ts";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type {
  LinkChoice,
  LinkedAccount,
  LinkOutcome,
} from "../../src/shared/networks/contract/link.ts";
import { walkLeg, type SandboxTools } from "./sandbox-leg.ts";
import { decideAt } from "./sandbox-links.ts";
import { useSandboxTools } from "./use-sandbox-tools.ts";

const redirectUri = "https://relay.example/v1/connect/callback/facebook";

export function accountOf(outcome: LinkOutcome | LinkChoice): LinkedAccount {
  if (outcome.kind !== "linked") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  return outcome.linked;
}

/** Facebook's pages in the sandbox, for a test file: the sandbox and the tools are new before every test. */
export function usePages(
  keep?: (fresh: { readonly sandbox: Sandbox; readonly tools: SandboxTools }) => void,
) {
  let sandbox: Sandbox;
  let tools: SandboxTools;

  useSandboxTools(
    (fresh) => {
      ({ sandbox, tools } = fresh);
    },
    { ...DEMO_FACEBOOK_APP, version: "v26.0" },
  );
  const shown = () => sandbox.posts("facebook");
  const asked = (route: string) => sandbox.requests().filter((request) => request.route === route);

  /** The whole way through the dialog; `form` is what the person ticks. */
  async function authorize(
    form: Readonly<Record<string, string>> = {},
  ): Promise<LinkOutcome | LinkChoice> {
    const oauth = { redirectUri, state: "state-1", codeChallenge: "challenge" };
    const started = await facebook.link.start({}, oauth, tools);
    if (started.kind === "failed") return started;
    const back = await decideAt(started.url, tools, form);
    const params = Object.fromEntries(back.searchParams);
    expect(params["state"]).toBe("state-1");
    const callback = { params, codeVerifier: "v", redirectUri, flow: started.flow };
    return facebook.link.finish(callback, tools);
  }

  async function linkPage(id = DEMO_PAGE): Promise<LinkedAccount> {
    const choice = await authorize();
    if (choice.kind !== "choose") throw new Error(`no choice: ${JSON.stringify(choice)}`);
    return accountOf(await facebook.link.choose(id, choice.flow, tools));
  }

  const publish = async (draft: Partial<LegDraft>) =>
    walkLeg(facebook, await linkPage(), draft, tools);

  beforeEach(() => keep?.({ sandbox, tools }));
  return { shown, authorize, linkPage, asked, publish };
}
