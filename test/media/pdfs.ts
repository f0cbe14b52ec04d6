import { deflateSync } from "node:zlib";

export interface PdfForm {
  /** Whether the objects are compressed, with a table that is a stream, as newer programs write them. */
  readonly isCompressed?: boolean;
  /** Updates that follow, each with a table of its own. */
  readonly updates?: number;
  /** What the catalog says beside where the pages are. */
  readonly catalog?: string;
  /** What replaces the dictionary of the list of pages. */
  readonly list?: string;
}

/** Writes a PDF with this number of empty pages. */
export function pdfOf(
  pages: number,
  { isCompressed = false, updates = 0, list, catalog = "/Type /Catalog" }: PdfForm = {},
): Buffer {
  const kids = Array.from({ length: pages }, (_none, index) => `${index + 4} 0 R`).join(" ");
  const objects = [
    `<< ${catalog} /Pages 2 0 R >>`,
    list ?? `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`,
    "<< >>",
    ...Array.from({ length: pages }, () => "<< /Type /Page /Parent 2 0 R /Resources 3 0 R >>"),
  ];
  return isCompressed ? compressed(objects) : plain(objects, updates);
}

function plain(objects: readonly string[], updates: number): Buffer {
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  let before = text.length;
  const row = (offset: number) => `${String(offset).padStart(10, "0")} 00000 n \n`;
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.map(row).join("")}`;
  text += `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${before}\n%%EOF\n`;
  for (let update = 0; update < updates; update += 1) {
    const [at, table] = [text.length, text.length + "3 0 obj\n<< >>\nendobj\n".length];
    text += `3 0 obj\n<< >>\nendobj\nxref\n3 1\n${row(at)}`;
    text += `trailer\n<< /Size ${size} /Root 1 0 R /Prev ${before} >>\nstartxref\n${table}\n%%EOF\n`;
    before = table;
  }
  return Buffer.from(text, "latin1");
}

const ROW_BYTES = 5;

function compressed(objects: readonly string[]): Buffer {
  const holder = objects.length + 1;
  let body = "";
  const header = objects.map((object, index) => {
    const at = body.length;
    body += `${object} `;
    return `${index + 1} ${at}`;
  });
  const first = `${header.join(" ")} `;
  const stream = deflateSync(Buffer.from(first + body, "latin1"));
  const head = `%PDF-1.5\n`;
  const opening = `${holder} 0 obj\n<< /Type /ObjStm /N ${objects.length} /First ${first.length} /Filter /FlateDecode /Length ${stream.length} >>\nstream\n`;
  const parts = [Buffer.from(head + opening), stream, Buffer.from("\nendstream\nendobj\n")];
  const at = parts.reduce((sum, { length }) => sum + length, 0);
  const rows = [
    [0, 0, 0],
    ...objects.map((_object, index) => [2, holder, index]),
    [1, head.length, 0],
    [1, at, 0],
  ].map(([type = 0, second = 0, third = 0]) => {
    const row = Buffer.alloc(ROW_BYTES);
    row.writeUInt8(type, 0);
    row.writeUInt16BE(second, 1);
    row.writeUInt16BE(third, 3);
    return row;
  });
  // Each row as the difference to the one above, as programs write it.
  const table = deflateSync(
    Buffer.concat(
      rows.map((row, index) =>
        Buffer.from([2, ...row.map((byte, column) => byte - (rows[index - 1]?.[column] ?? 0))]),
      ),
    ),
  );
  const last = `${holder + 1} 0 obj\n<< /Type /XRef /Size ${rows.length} /W [1 2 2] /Root 1 0 R /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns ${ROW_BYTES} >> /Length ${table.length} >>\nstream\n`;
  const end = `\nendstream\nendobj\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(last), table, Buffer.from(end)]);
}
