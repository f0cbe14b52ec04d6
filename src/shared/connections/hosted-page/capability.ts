import { html, type Markup } from "./markup.ts";

/** What lets a form act in the session. */
export interface Capability {
  readonly sessionId: string;
  readonly token: string;
}

export function renderCapability({ sessionId, token }: Capability): Markup {
  return html`<input type="hidden" name="session" value="${sessionId}" /><input
      type="hidden"
      name="token"
      value="${token}"
    />`;
}
