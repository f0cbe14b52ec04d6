import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// A table service that answers at once and the same, so that what a client takes can be told from it. Tells its parent
// the port.

const COLUMNS = 20;
const LISTED = 6;
const ETAG = `W/"datetime'2026-01-01T00%3A00%3A00.0000000Z'"`;

function entity(rowKey: string): object {
  const columns = Array.from({ length: COLUMNS }, (_, index) => [
    `column${index}`,
    index % 3 === 0 ? index : `value ${index}`,
  ]);
  const own = { "odata.etag": ETAG, PartitionKey: "p", RowKey: rowKey };
  return { ...own, ...Object.fromEntries(columns) };
}

const one = JSON.stringify(entity("r"));
const list = JSON.stringify({
  value: Array.from({ length: LISTED }, (_, index) => entity(`r${index}`)),
});
const PART = `--changesetresponse_1\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\nETag: ${ETAG}\r\n\r\n`;

function applied(body: string): string {
  const writes = body.split(" HTTP/1.1").length - 1;
  return `--batchresponse_1\r\n\r\n${PART.repeat(writes)}--changesetresponse_1--\r\n--batchresponse_1--\r\n`;
}

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    const { url = "", method } = request;
    if (url.endsWith("/$batch")) {
      const headers = { "content-type": "multipart/mixed; boundary=batchresponse_1" };
      response.writeHead(202, headers).end(applied(body));
    } else if (method === "GET") {
      const type = { "content-type": "application/json;odata=minimalmetadata" };
      response.writeHead(200, type).end(url.includes("$filter") ? list : one);
    } else response.writeHead(204, { etag: ETAG }).end();
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
