import type { Texts } from "../contract/draft.ts";
import { exchange } from "../contract/answers.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type LinkErrorCode, linkFailed } from "../contract/link.ts";
import type { LinkFailure, LinkForm, LinkOutcome } from "../contract/link.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { serverOrigin, typedText } from "../contract/text.ts";
import { xrpcError } from "./errors.ts";
import { readIdentifier, type Identifier, isOwnServer, LOGIN_HOST } from "./identity.ts";
import { describe, resolveHandle, resolveServer } from "./identity.ts";
import { procedure } from "./request.ts";
import { type Session, accessExpiry, readSession, sessionExpiry } from "./session.ts";

const APP_PASSWORD = /^[a-z0-9]{4}(?:-[a-z0-9]{4}){3}$/i;

interface SignIn {
  readonly identifier: Identifier;
  readonly password: string;
  /** Typed by the user, for servers that the public directories don't know. */
  readonly server: string | null;
}
interface Home {
  /** Where to log in. */
  readonly service: string;
  /** Known when the identifier was resolved. The session must then be of this DID. */
  readonly did: string | null;
  readonly pds: string | null;
}

export const appPasswordForm = {
  fields: [
    {
      name: "identifier",
      label: "Handle or email address",
      hint: "What you log in to Bluesky with, for example alice.bsky.social",
      placeholder: "alice.bsky.social",
      autocomplete: "username",
      known: ({ account }) => account.username,
    },
    {
      name: "appPassword",
      label: "App password",
      hint: "Not the password that you log in with. Create one in Bluesky: Settings > Privacy and security > App passwords",
      secret: true,
      placeholder: "xxxx-xxxx-xxxx-xxxx",
    },
    {
      name: "server",
      label: "Server address (optional)",
      hint: "Only if your account is on a server of your own that your handle does not lead to",
    },
  ],
  signIn,
} as const satisfies LinkForm;

async function signIn(form: Texts, tools: NetworkTools): Promise<LinkOutcome> {
  const typed = readForm(form);
  if ("code" in typed) return typed;
  const home = await findHome(typed, tools);
  if ("code" in home) return home;
  const logIn = async (identifier: string): Promise<Session | LinkFailure> => {
    const given = { identifier, password: typed.password };
    const request = procedure(home.service, "com.atproto.server.createSession", given);
    return readLogIn(await exchange(tools, request));
  };
  const named = await logIn(typed.identifier.value);
  // Some servers know their accounts by the DID alone, to which the handle has led.
  const isUnknown = "code" in named && named.code === "wrong_credentials";
  const isByHandle = home.did !== null && home.did !== typed.identifier.value;
  const isTriedAgain = isUnknown && isByHandle && home.service !== LOGIN_HOST;
  const session = isTriedAgain ? await logIn(home.did) : named;
  if ("code" in session) return session;
  if (session.active === false) {
    // The document of an account that was found by its handle was just read.
    const server = home.pds === null ? await resolveServer(session.did, tools) : undefined;
    const hasMoved = typeof server === "string" && server !== home.service && !isOwnServer(server);
    return linkFailed(hasMoved ? "account_moved" : "account_restricted", session.status);
  }
  const pds = await confirmServer(session, home, tools);
  if (typeof pds !== "string") return pds;
  const { did, handle, accessJwt, refreshJwt } = session;
  const accessExpiresAt = accessExpiry(accessJwt, tools.now());
  const { service } = home;
  const credentials = { did, service, pds, accessJwt, refreshJwt, accessExpiresAt };
  const account = await describe(credentials, handle, tools);
  const expiresAt = sessionExpiry(refreshJwt);
  return { kind: "linked", linked: { ...account, scopes: [], expiresAt } };
}

function readForm(form: Texts): SignIn | LinkFailure {
  const typedServer = typedText(form["server"]);
  const server = typedServer === "" ? null : serverOrigin(typedServer);
  const identifier = readIdentifier(typedText(form["identifier"]), server === null);
  const password = typedText(form["appPassword"]);
  if (identifier === undefined) return { ...linkFailed("input_invalid"), field: "identifier" };
  if (password === "") return { ...linkFailed("input_invalid"), field: "appPassword" };
  if (server === undefined) return { ...linkFailed("input_invalid"), field: "server" };
  // A main password would work as well, but it must not even be sent, let alone stored as a session.
  if (!APP_PASSWORD.test(password)) return linkFailed("app_password_needed");
  return { identifier, password: password.toLowerCase(), server };
}

async function findHome(typed: SignIn, tools: NetworkTools): Promise<Home | LinkFailure> {
  const { identifier, server } = typed;
  if (server !== null) return { service: server, did: null, pds: null };
  if (identifier.kind === "email") return { service: LOGIN_HOST, did: null, pds: null };
  const did =
    identifier.kind === "did" ? identifier.value : await resolveHandle(identifier.value, tools);
  if (typeof did !== "string") return did;
  const pds = await resolveServer(did, tools);
  if (typeof pds !== "string") return pds;
  return { service: isOwnServer(pds) ? LOGIN_HOST : pds, did, pds };
}

/**
 * Returns the server that the DID itself names. A server may claim to have any account, and all who link an account
 * share its quota and duplicate check, so the server's claim is not enough.
 */
async function confirmServer(
  session: Session,
  home: Home,
  tools: NetworkTools,
): Promise<string | LinkFailure> {
  if (home.did !== null && home.did !== session.did) {
    return linkFailed("account_not_found", "the server answered for another account");
  }
  if (home.pds !== null) return home.pds;
  const pds = await resolveServer(session.did, tools);
  if (typeof pds !== "string" || pds === home.service || home.service === LOGIN_HOST) return pds;
  return linkFailed("instance_unsupported", "the account is on another server");
}

const REFUSED: Readonly<Record<string, LinkErrorCode>> = {
  AuthenticationRequired: "wrong_credentials",
  InvalidToken: "wrong_credentials",
  AuthFactorTokenRequired: "app_password_needed",
  AccountTakedown: "account_restricted",
  AccountSuspended: "account_restricted",
  AccountDeactivated: "account_restricted",
  RateLimitExceeded: "rate_limited",
  InvalidRequest: "input_invalid",
};

function readLogIn(answer: HttpResponse | HttpFailure): Session | LinkFailure {
  if (answer instanceof HttpFailure) return linkFailed("instance_unreachable", answer.message);
  const session = readSession(answer);
  if (session !== undefined) return session;
  const error = xrpcError(answer);
  if (answer.status === 429) return linkFailed("rate_limited");
  if (answer.status >= 500) return linkFailed("network_unavailable", `HTTP ${answer.status}`);
  if (error === undefined) return linkFailed("instance_unsupported", `HTTP ${answer.status}`);
  const code =
    REFUSED[error.error] ?? (answer.status === 401 ? "wrong_credentials" : "instance_unsupported");
  return linkFailed(code, `${error.error}: ${error.message ?? ""}`);
}
