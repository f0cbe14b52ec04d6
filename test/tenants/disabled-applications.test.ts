import { expect, test } from "vitest";
import {
  disabledColumns,
  parseDisabled,
  platformRow,
} from "../../src/shared/tenants/platform-row.ts";
import type { Row } from "../../src/shared/runtime/storage/row.ts";

const AT = "2026-03-04T10:00:00.000Z";
const ids = Array.from({ length: 1_100 }, (_, index) => `app_${String(index).padStart(26, "0")}`);

test("an application is enabled again, however many others are disabled", () => {
  const fields = { name: "Example Media", status: "active", createdAt: AT, updatedAt: AT } as const;
  let row: Row = {
    ...platformRow.encode({ ...fields, disabled: ids.join(" "), users: 1, owners: 1 }),
    rowKey: "P",
  };
  expect(row["disabled1"]).toBeTypeOf("string");
  for (const id of ids.slice(0, 100)) row = { ...row, ...disabledColumns(row, id, false) };
  expect(parseDisabled(platformRow.decode(row).disabled)).toEqual(ids.slice(100));
});
