import { networkSettings } from "../../../../src/shared/networks/contract/settings.ts";
import { integerSetting, withDefault } from "../../../../src/shared/runtime/setting.ts";

export const pinboardSettings = networkSettings(
  { QUOTA_PINBOARD: withDefault(integerSetting(1, 10_000), "50", "Pins per account in 24 hours.") },
  (values) => ({ quotas: { pins: values.QUOTA_PINBOARD } }),
);
