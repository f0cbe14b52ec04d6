import type { Chapter, Route } from "../shared/http/route.ts";
import { accountRoutes, applicationRoutes } from "./platform.ts";
import { adminRoutes } from "./admin.ts";
import { applicationReadRoutes } from "./application-reads.ts";
import { authRoutes, userRoutes } from "./auth.ts";
import { billingRoutes } from "./billing.ts";
import { connectRoutes } from "./connect.ts";
import { acceptInvitationRoute, invitationRoutes } from "./invitations.ts";
import { keyRoutes } from "./keys.ts";
import { mediaRoutes } from "./media.ts";
import { networkRoutes, postRoutes } from "./posts.ts";
import { linkRoutes } from "./links.ts";
import { metaRoutes } from "./meta.ts";
import { profileRoutes } from "./profiles.ts";
import { withdrawalRoutes } from "./withdrawals.ts";
import { webhookAdminRoutes, webhookRoutes } from "./webhooks.ts";

/** Every route, in the chapters and the order of the reference. */
export const chapters: readonly Chapter[] = [
  {
    name: "Posts",
    about:
      "A post has one leg per network. Each leg is published at most once, and charged only if it was published.",
    routes: [...postRoutes, ...networkRoutes],
  },
  {
    name: "Files",
    about:
      "Pictures, videos, sound and documents that are uploaded once, straight to storage, and used in posts by their `url`. An upload has three requests: announce the file, send its bytes to `upload.url` with a PUT, and complete it.",
    routes: mediaRoutes,
  },
  {
    name: "Profiles",
    about: "The platform's end customers. Posts and connections belong to one profile.",
    routes: profileRoutes,
  },
  {
    name: "Connections",
    about: "Accounts that end users have linked, and the hosted page on which they link them.",
    routes: [...connectRoutes, ...withdrawalRoutes()],
  },
  {
    name: "Webhooks",
    about: "Signed events, sent to an application's endpoints with retries, or listed on request.",
    routes: webhookRoutes,
  },
  { name: "Billing", about: "The wallet, its ledger and its limits.", routes: billingRoutes },
  {
    name: "API keys",
    about: "Credentials for your backend, and short-lived grants that extend a restricted key.",
    routes: keyRoutes,
  },
  {
    name: "Applications",
    about:
      "Products of a platform. Keys, profiles and webhooks belong to one application and can't be moved.",
    routes: [...applicationRoutes, ...applicationReadRoutes],
  },
  {
    name: "Platform",
    about: "Your account: who is calling, prices, notices, and the audit list.",
    routes: accountRoutes,
  },
  {
    name: "Staff",
    about: "Users who can log in for a platform, and invitations.",
    routes: [...userRoutes, ...invitationRoutes],
  },
  {
    name: "Login and sign-up",
    about: "Dashboard sessions of a platform's staff: sign-up, login, TOTP.",
    routes: [...authRoutes, ...linkRoutes, acceptInvitationRoute],
  },
  {
    name: "Operator administration",
    about: "For the operators of the service, with a token from their identity provider.",
    routes: [...adminRoutes, ...webhookAdminRoutes],
  },
  {
    name: "Service",
    about: "The service itself: whether it runs, and its documents.",
    routes: metaRoutes,
  },
];

/** Every route of the product. The registration and the tests read this array. */
export const routes: readonly Route[] = chapters.flatMap((chapter) => chapter.routes);
