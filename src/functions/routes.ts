import type { Route } from "../shared/http/route.ts";
import { accountRoutes } from "./accounts.ts";
import { adminRoutes } from "./admin.ts";
import { applicationRoutes } from "./applications.ts";
import { authRoutes } from "./auth.ts";
import { billingRoutes } from "./billing.ts";
import { connectRoutes } from "./connect.ts";
import { keyRoutes } from "./keys.ts";
import { metaRoutes } from "./meta.ts";
import { postRoutes } from "./posts.ts";
import { profileRoutes } from "./profiles.ts";
import { userRoutes } from "./users.ts";

/** Every route of the product: the registration and the tests read this array. */
export const routes: readonly Route[] = [
  ...metaRoutes,
  ...authRoutes,
  ...userRoutes,
  ...accountRoutes,
  ...applicationRoutes,
  ...keyRoutes,
  ...profileRoutes,
  ...connectRoutes,
  ...postRoutes,
  ...billingRoutes,
  ...adminRoutes,
];
