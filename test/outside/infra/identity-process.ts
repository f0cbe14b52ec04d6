import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { DefaultAzureCredential } from "@azure/identity";
import { BlobServiceClient, BlockBlobClient, RestError } from "@azure/storage-blob";
import { checkReadiness } from "../../../src/shared/http/check-readiness.ts";
import { readConfig } from "../../../src/shared/config/config.ts";
import { newErasure } from "../../../src/shared/erasure/erasure-stages.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { buildServices } from "../../../src/shared/compose.ts";

/**
 * The product's storage as a deployment has it: settings from the environment, a write and a read of each kind. Single
 * rows alone: Azurite answers transactions with 500 where the account is named by the host.
 */
const services = buildServices(readConfig());
const now = services.clock.now();
const [platformId, profileId] = [newId("platform", now), newId("profile", now)];
const [applicationId, fileId] = [newId("application", now), newId("file", now)];
const requestedBy = { kind: "session", id: newId("user", now) } as const;

await services.erasure.erasures.open(
  newErasure({ id: profileId, platformId, applicationId, requestedBy }, now),
);
const postId = newId("post", now);
await services.publishing.stores.publishQueue.hint({
  kind: "legs",
  platformId,
  profileId,
  postId,
  networks: ["bluesky"],
});

// As the template does. Azurite has no containers at first, and the other process may have made it.
const { blobs } = services.publishing.files.stores;
const signing = new DefaultAzureCredential();
const account = new BlobServiceClient("https://stmediaexample.blob.core.windows.net", signing);
await account.getContainerClient("media").createIfNotExists();

let keysFetched = 0;
// oxlint-disable-next-line typescript/unbound-method -- it is called on the client
const { getUserDelegationKey } = BlobServiceClient.prototype;
Object.assign(BlobServiceClient.prototype, {
  getUserDelegationKey(...given: unknown[]): unknown {
    keysFetched += 1;
    return Reflect.apply(getUserDelegationKey, this, given);
  },
});
const { checks, files } = await checkReadiness(services);
const name = `identity/${fileId}`;
const [uploadAddress, readAddress] = await Promise.all([
  blobs.createAddress(name, 30 * 60),
  blobs.readAddress(name, { seconds: 26 * 3_600, contentType: "image/jpeg", filename: "a.jpg" }),
]);
const send = async (address: string) => {
  try {
    const bytes = "the bytes of a file";
    // oxlint-disable-next-line no-underscore-dangle -- the SDK's name
    return (await new BlockBlobClient(address).upload(bytes, bytes.length))._response.status;
  } catch (error) {
    return error instanceof RestError ? error.statusCode : String(error);
  }
};
const sent = await send(uploadAddress);
const sentAgain = await send(uploadAddress);
const sentElsewhere = await send(uploadAddress.replace(fileId, `${fileId}0`));
const answer = await new BlockBlobClient(readAddress).download();
const content = await text(answer.readableStreamBody ?? Readable.from([]));
const read = (await services.erasure.erasures.find(profileId)) !== undefined;
process.stdout.write(
  JSON.stringify({
    read,
    checks,
    files,
    sent,
    sentAgain,
    sentElsewhere,
    content,
    shownAs: answer.contentDisposition,
    keysFetched,
    addresses: [uploadAddress, readAddress],
  }),
);
