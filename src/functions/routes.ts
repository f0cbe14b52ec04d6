import type { Chapter, Route } from "../shared/http/route.ts";
import { accountRoutes, applicationRoutes } from "./platform.ts";
import { adminRoutes } from "./admin.ts";
import { applicationReadRoutes } from "./application-reads.ts";
import { authRoutes, userRoutes } from "./auth.ts";
import { billingRoutes } from "./billing.ts";
import { connectRoutes } from "./connect.ts";
import { acceptInvitationRoute, invitationRoutes } from "./invitations.ts";
import { keyRoutes } from "./keys.ts";
import { mediaRoutes, networkRoutes, postRoutes } from "./posts.ts";
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
      "One post in, one leg per network: published at most once, settled when it was published.",
    routes: [...postRoutes, ...networkRoutes],
  },
  {
    name: "Media",
    about: "Images in the form that networks fetch.",
    routes: mediaRoutes,
  },
  {
    name: "Profiles",
    about: "The platform's end customers. Posts and connections belong to one.",
    routes: profileRoutes,
  },
  {
    name: "Connections",
    about: "Accounts that end users authorised, and the hosted page on which they do it.",
    routes: [...connectRoutes, ...withdrawalRoutes()],
  },
  {
    name: "Webhooks",
    about: "Events: sent to an application's endpoints, signed, until they arrive; or asked for.",
    routes: webhookRoutes,
  },
  { name: "Billing", about: "The wallet, its ledger and its limits.", routes: billingRoutes },
  {
    name: "API keys",
    about: "Credentials of product backends, and grants that widen a restricted key for a while.",
    routes: keyRoutes,
  },
  {
    name: "Applications",
    about: "Products of a platform. Keys, profiles and webhooks belong to one, and can't leave it.",
    routes: [...applicationRoutes, ...applicationReadRoutes],
  },
  {
    name: "Platform",
    about: "The paying customer: who is calling, what things cost, what was done.",
    routes: accountRoutes,
  },
  {
    name: "Staff",
    about: "Who can log in for a platform, and who is invited to.",
    routes: [...userRoutes, ...invitationRoutes],
  },
  {
    name: "Authentication",
    about: "Dashboard sessions of a platform's staff: sign-up, login, TOTP.",
    routes: [...authRoutes, ...linkRoutes, acceptInvitationRoute],
  },
  {
    name: "Operator administration",
    about: "For the operators of the service, with a token of their identity provider.",
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
