import { integer, withDefault } from "../../runtime/setting.ts";
import { commentsSetting, graphVersion, readGraphApp } from "../graph/settings.ts";
import { appSettings, networkSettings } from "../contract/settings.ts";

const COMMENTS = "pages_manage_engagement";

export const facebookSettings = networkSettings(
  {
    QUOTA_FACEBOOK_REELS: withDefault(
      integer(1, 10_000),
      "30",
      "Reels per Facebook page in 24 hours.",
    ),
    ...appSettings("FACEBOOK_APP", "The app at Facebook; without it Facebook is not available."),
    FACEBOOK_COMMENTS: commentsSetting("Facebook", COMMENTS),
    ...graphVersion,
  },
  (values) => ({
    ...readGraphApp("FACEBOOK_APP", values, values.FACEBOOK_COMMENTS ? [COMMENTS] : []),
    quotas: { reels: values.QUOTA_FACEBOOK_REELS },
  }),
);
