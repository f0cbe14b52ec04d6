import { DEMO_FACEBOOK_APP } from "../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../sandbox/instagram/state.ts";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../sandbox/linkedin/state.ts";

/** Settings with which all five networks are there: the apps that the sandbox knows. */
export const DEMO_APPS = {
  FACEBOOK_APP_ID: DEMO_FACEBOOK_APP.id,
  FACEBOOK_APP_SECRET: DEMO_FACEBOOK_APP.secret,
  INSTAGRAM_APP_ID: DEMO_INSTAGRAM_APP.id,
  INSTAGRAM_APP_SECRET: DEMO_INSTAGRAM_APP.secret,
  LINKEDIN_CLIENT_ID: DEMO_LINKEDIN_APP.id,
  LINKEDIN_CLIENT_SECRET: DEMO_LINKEDIN_APP.secret,
  LINKEDIN_ORG_CLIENT_ID: DEMO_LINKEDIN_ORG_APP.id,
  LINKEDIN_ORG_CLIENT_SECRET: DEMO_LINKEDIN_ORG_APP.secret,
};
