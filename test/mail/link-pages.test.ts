import { describe, expect, test } from "vitest";
import { PAGE_WORDS } from "../../src/shared/people/link-pages/link-page.ts";
import { readable } from "../connections/browser.ts";
import { forFile } from "../setup/for-file.ts";
import { startMailedRelay, type MailedRelay } from "../setup/mail.ts";
import { invited, lastToken, NEW_PASSWORD, verified, askForReset } from "./people.ts";

const DASHBOARD = "https://dashboard.example.com/login";
const settings = { SIGNUPS_PER_ADDRESS_DAY: "50" };
const plain = forFile(() => startMailedRelay({ settings }));
const withDashboard = forFile(() =>
  startMailedRelay({ settings: { ...settings, DASHBOARD_URL: DASHBOARD } }),
);
const withSite = forFile(() =>
  startMailedRelay({
    settings: { ...settings, SERVICE_NAME: "Relay", SERVICE_URL: "https://relay.example.com/" },
  }),
);

/** Words for logging in, in any language of the pages. */
const LOG_IN =
  /\blog(?:ging)?[ -]?in|\bsign(?:ing)?[ -]in|anmeld|melde\w* sich|connect(?:ez|er|ion)|se connecter|inici\w* sesi|inici\w* sess/i;

async function send(mailed: MailedRelay, kind: string, token: string) {
  const opened = await mailed.relay.call("GET", `/v1/auth/ui/${kind}?token=${token}`);
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  const rawBody = new URLSearchParams({ token, username: "", password: NEW_PASSWORD }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", cookie };
  const answer = await mailed.relay.call("POST", `/v1/auth/ui/${kind}`, { rawBody, headers });
  return { opened, answer };
}

async function reset(mailed: MailedRelay) {
  const person = await verified(mailed);
  await askForReset(mailed.relay, person);
  return await send(mailed, "reset", await lastToken(mailed, person.email));
}

const buttonIn = (body: string) => /<a class="button" href="([^"]*)"[^>]*>([^<]*)/.exec(body);

describe("the page of an invitation", () => {
  test("says who invited to which platform, and for which account the password is", async () => {
    const { owner, email, token } = await invited(plain);
    const { body } = await plain.relay.call("GET", `/v1/auth/ui/invitation?token=${token}`);
    expect(readable(body)).toContain(`${owner.email} invited you to “Example”`);
    expect(body).toMatch(new RegExp(`name="username"\\s+value="${email}"`));
  });

  test("leads who comes back to it to the page where people log in", async () => {
    const { token } = await invited(withDashboard);
    await send(withDashboard, "invitation", token);
    const { body } = await withDashboard.relay.call("GET", `/v1/auth/ui/invitation?token=${token}`);
    expect(readable(body)).toContain("You've already joined");
    expect(buttonIn(body)?.slice(1)).toEqual([DASHBOARD, "Log in"]);
  });
});

describe("after success", () => {
  test("a button leads to the page where people log in", async () => {
    const { answer } = await reset(withDashboard);
    expect([answer.status, buttonIn(answer.body)?.slice(1)]).toEqual([200, [DASHBOARD, "Log in"]]);
  });

  test("a button leads to the service's site where there is no such page", async () => {
    const { answer } = await reset(withSite);
    const site = ["https://relay.example.com/", "Go to Relay"];
    expect(buttonIn(answer.body)?.slice(1)).toEqual(site);
  });

  test("the window can be closed where there is neither", async () => {
    const { answer } = await reset(plain);
    expect(buttonIn(answer.body)).toBeNull();
    expect(readable(answer.body)).toContain("You can close this window.");
  });
});

test.each(Object.entries(PAGE_WORDS))(
  "no page speaks of logging in unless there is a page for it (%s)",
  (_locale, { logIn, forgotten, ...words }) => {
    expect(`${logIn} ${forgotten}`).toMatch(LOG_IN);
    expect(JSON.stringify(words).replaceAll(/"\w+":/g, "")).not.toMatch(LOG_IN);
  },
);
