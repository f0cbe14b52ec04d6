import { flag, integerSetting, setting, text, withDefault } from "../../runtime/setting.ts";
import { graphVersion, readGraphApp } from "../graph/settings.ts";
import { appSettings, commentsSetting, networkSettings } from "../contract/settings.ts";

export const COMMENTS = "pages_manage_engagement";
/** The dialog refuses the first permission without this one, even if it isn't needed. */
const COMMENTS_NEED = "pages_read_user_content";

export const facebookSettings = networkSettings(
  {
    QUOTA_FACEBOOK_REELS: withDefault(
      integerSetting(1, 10_000),
      "30",
      "Reels per Facebook page in 24 hours.",
    ),
    ...appSettings("FACEBOOK_APP", "The Facebook app. Without it, Facebook is not available."),
    FACEBOOK_LOGIN_CONFIG_ID: setting(
      text,
      null,
      "The configuration of Facebook Login for Business with which people link accounts. It defines the permissions that are requested. Without it, the service requests those that it needs.",
    ),
    FACEBOOK_BUSINESS_MANAGEMENT: withDefault(
      flag,
      "true",
      "Whether people who link Facebook are asked for `business_management`, which finds pages of business portfolios. `false` while Meta has not approved the app for it.",
    ),
    FACEBOOK_COMMENTS: commentsSetting("Facebook", [COMMENTS, COMMENTS_NEED], "Meta"),
    ...graphVersion,
  },
  (values) => {
    const extraScopes = values.FACEBOOK_COMMENTS ? [COMMENTS, COMMENTS_NEED] : [];
    const { app, problems = [] } = readGraphApp("FACEBOOK_APP", values, extraScopes);
    const { FACEBOOK_LOGIN_CONFIG_ID: loginConfigId } = values;
    return {
      app: app && {
        ...app,
        ...(values.FACEBOOK_BUSINESS_MANAGEMENT ? {} : { asksForBusiness: false }),
        ...(loginConfigId === undefined ? {} : { loginConfigId }),
      },
      problems,
      quotas: { reels: values.QUOTA_FACEBOOK_REELS },
    };
  },
);
