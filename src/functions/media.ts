import { anyone } from "../shared/http/access/access.ts";
import { image } from "../shared/http/reply.ts";
import { route, type Route } from "../shared/http/route.ts";

export const mediaRoutes: readonly Route[] = [
  route("GET", "v1/media/{token}", {
    operationId: "getMedia",
    summary: "An image of a post, as a network takes it that fetches files itself.",
    description:
      "The service hands such addresses to networks; they hold for 26 hours. The token is sealed: nobody else can make one.",
    access: anyone,
    status: 200,
    produces: "image",
    answers: { 200: "The image, a JPEG as a rule." },
    errors: ["not_found", "service_unavailable"],
    async run({ services, params }) {
      // Loaded when it is first asked for: no other route needs what it takes to read an image.
      const { serveFitted } = await import("../shared/media/serve-fitted.ts");
      return image(await serveFitted(services, params.token));
    },
  }),
];
