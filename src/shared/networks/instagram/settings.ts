import { integerSetting, withDefault } from "../../runtime/setting.ts";
import { graphVersion, readGraphApp } from "../graph/settings.ts";
import { appSettings, commentsSetting, networkSettings } from "../contract/settings.ts";

export const COMMENTS = "instagram_business_manage_comments";

export const instagramSettings = networkSettings(
  {
    QUOTA_INSTAGRAM: withDefault(
      integerSetting(1, 10_000),
      "50",
      "Posts per Instagram account in 24 hours.",
    ),
    ...appSettings(
      "INSTAGRAM_APP",
      "The Instagram app, whose id is not the Facebook app's. Without it, Instagram is not available.",
    ),
    INSTAGRAM_COMMENTS: commentsSetting("Instagram", [COMMENTS], "Meta"),
    ...graphVersion,
  },
  (values) => ({
    ...readGraphApp("INSTAGRAM_APP", values, values.INSTAGRAM_COMMENTS ? [COMMENTS] : []),
    quotas: { posts: values.QUOTA_INSTAGRAM },
  }),
);
