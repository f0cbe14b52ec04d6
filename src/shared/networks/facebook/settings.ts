import { integer, withDefault } from "../../runtime/setting.ts";
import { graphVersion, readGraphApp } from "../graph/settings.ts";
import { appSettings, networkSettings } from "../contract/settings.ts";

export const facebookSettings = networkSettings(
  {
    QUOTA_FACEBOOK_REELS: withDefault(
      integer(1, 10_000),
      "30",
      "Reels per Facebook page in 24 hours.",
    ),
    ...appSettings("FACEBOOK_APP", "The app at Facebook; without it Facebook is not available."),
    ...graphVersion,
  },
  (values) => ({
    ...readGraphApp("FACEBOOK_APP", values),
    quotas: { reels: values.QUOTA_FACEBOOK_REELS },
  }),
);
