import type { ProfileScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { ACCESS_CONTRACTS } from "./access-contract.ts";
import { keyOrSession, profilesOfHeaders, type Access } from "./access.ts";
import { profileScope } from "./profile-access.ts";

/**
 * The profile of the connect session that the path names: whoever may act for the profile may see and cancel it. The
 * caller is judged before the session is looked up, and a session of another platform is not there.
 */
export const connectSessionScope: Access<ProfileScope> = {
  name: "connectSessionScope",
  contract: ACCESS_CONTRACTS.connectSessionScope,
  async resolve(request) {
    const { platformId } = await keyOrSession.resolve(request);
    const session = await request.services.connectSessions.find(request.params["sessionId"] ?? "");
    if (session?.platformId !== platformId) throw notFound();
    const { profileId } = session;
    // Nothing in the path tells the profile: who names another one does not learn it here.
    if (profilesOfHeaders(request.headers).some((named) => named !== profileId)) throw notFound();
    const params = { profileId };
    return await profileScope.resolve({ ...request, params });
  },
};
