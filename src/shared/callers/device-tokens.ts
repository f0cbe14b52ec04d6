import { errors } from "jose";
import { ownTokens } from "../runtime/rotating-keys.ts";

/** How long a device is known. */
export const DEVICE_SECONDS = 180 * 24 * 3600;
const DEVICE = {
  type: "device+jwt",
  audience: "device",
  secretSetting: "SESSION_SECRET",
  purpose: "device",
  claims: ["sub", "plt", "pv"],
  lifetimeSecondsMax: DEVICE_SECONDS,
};

/** The owner of a device, and the version of the owner's password. */
export interface DeviceClaims {
  readonly userId: string;
  readonly platformId: string;
  /** Changing the password raises the user's version, which ends every token. */
  readonly passwordVersion: number;
}

/**
 * Issues and reads tokens of devices that a user has logged in from. They prove nothing: wrong passwords from such a
 * device are only counted separately. The previous secret isn't accepted, so a rotation ends all tokens.
 */
export function createDeviceTokens(secret: string, now: () => Date) {
  const tokens = ownTokens(DEVICE, { current: secret }, now);
  return {
    async issue({ userId, platformId, passwordVersion }: DeviceClaims): Promise<string> {
      const claims = { sub: userId, plt: platformId, pv: passwordVersion };
      return (await tokens.sign(claims, DEVICE_SECONDS)).token;
    },
    /** Reads a device's token. Undefined for a token that isn't ours or has expired. */
    async read(token: string): Promise<(DeviceClaims & { readonly deviceId: string }) | undefined> {
      try {
        const { sub: userId, plt: platformId, pv, jti: deviceId } = await tokens.verify(token);
        if (typeof userId !== "string" || typeof platformId !== "string") return undefined;
        if (typeof pv !== "number" || typeof deviceId !== "string") return undefined;
        return { userId, platformId, passwordVersion: pv, deviceId };
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

export type DeviceTokens = ReturnType<typeof createDeviceTokens>;
