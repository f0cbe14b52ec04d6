const SECTOR = 512;
const NONE = 0xffff_ffff;
const END = 0xffff_fffe;

/** A stream with its bytes, or a folder with what is in it, as documents embedded in others are. */
export type Node =
  | { readonly name: string; readonly bytes: Buffer }
  | { readonly name: string; readonly nodes: readonly Node[] };

interface Entry {
  readonly name: string;
  readonly type: number;
  right: number;
  child: number;
  start: number;
  size: number;
}

/** Writes a compound file, the container of old Office documents and of encrypted ones (MS-CFB). */
export function compoundOf(nodes: readonly Node[]): Buffer {
  const sectors: Buffer[] = [];
  const table: number[] = [];
  const add = (bytes: Buffer): number => {
    const start = sectors.length;
    const count = Math.max(1, Math.ceil(bytes.length / SECTOR));
    for (let index = 0; index < count; index += 1) {
      const sector = Buffer.alloc(SECTOR);
      bytes.copy(sector, 0, index * SECTOR, (index + 1) * SECTOR);
      sectors.push(sector);
      table.push(index + 1 === count ? END : start + index + 1);
    }
    return start;
  };
  const entries: Entry[] = [
    { name: "Root Entry", type: 5, right: NONE, child: NONE, start: END, size: 0 },
  ];
  const list = (parent: number, children: readonly Node[]) => {
    let before: number | undefined;
    for (const node of children) {
      const index = entries.length;
      const isStream = "bytes" in node;
      // Short streams would go elsewhere, so all are long.
      const bytes = isStream ? Buffer.concat([node.bytes, Buffer.alloc(4_096)]) : Buffer.alloc(0);
      entries.push({
        name: node.name,
        type: isStream ? 2 : 1,
        right: NONE,
        child: NONE,
        start: isStream ? add(bytes) : 0,
        size: bytes.length,
      });
      const [previous, folder] = [entries[before ?? -1], entries[parent]];
      if (previous !== undefined) previous.right = index;
      else if (folder !== undefined) folder.child = index;
      before = index;
      if (!isStream) list(index, node.nodes);
    }
  };
  list(0, nodes);
  const directory = Buffer.alloc(Math.ceil(entries.length / 4) * SECTOR);
  for (const [index, { name, type, right, child, start, size }] of entries.entries()) {
    const entry = directory.subarray(index * 128);
    entry.writeUInt16LE(entry.write(name, "utf16le") + 2, 64);
    entry.writeUInt8(type, 66);
    for (const [at, value] of [
      [68, NONE],
      [72, right],
      [76, child],
      [116, start],
      [120, size],
    ])
      entry.writeUInt32LE(value ?? 0, at ?? 0);
  }
  const directoryAt = add(directory);
  const tableAt = sectors.length;
  sectors.push(Buffer.alloc(SECTOR, 0xff));
  for (const [index, next] of [...table, 0xffff_fffd].entries())
    sectors[tableAt]?.writeUInt32LE(next, index * 4);
  const head = Buffer.alloc(SECTOR, 0xff);
  head.fill(0, 0, 76);
  head.write("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "latin1");
  for (const [at, value] of [
    [24, 0x3e],
    [26, 3],
    [28, 0xfffe],
    [30, 9],
    [32, 6],
  ])
    head.writeUInt16LE(value ?? 0, at ?? 0);
  for (const [at, value] of [
    [44, 1],
    [48, directoryAt],
    [56, 4_096],
    [60, END],
    [68, END],
    [76, tableAt],
  ])
    head.writeUInt32LE(value ?? 0, at ?? 0);
  return Buffer.concat([head, ...sectors]);
}
