/** Ids of devices: readable in Latin letters, and the same after an update. */
import { expect, test } from "vitest";
import { sha256 } from "../testkit/device-cases.ts";
import { IdTable } from "./id-table.ts";

const idOf = (name: string, table = new IdTable(sha256)) => table.rowOf(["zigbee_0x1"], name, new Set()).id;

test.each([
  ["łazienka lampa", "lazienka-lampa"],
  ["Køkken lampe", "kokken-lampe"],
  ["Işık mutfak", "isik-mutfak"],
  ["Đèn phòng khách", "den-phong-khach"],
  ["Küche Straße", "kueche-strasse"],
  // As a Mac writes ü.
  ["Ku\u0308che", "kueche"],
  ["Sœur, þak, blæs", "soeur-thak-blaes"],
])("V13: %s is %s", (name, id) => {
  expect(idOf(name)).toBe(id);
});

test("V13: a name in letters that are not Latin has an id that stays, whatever the name becomes", () => {
  const table = new IdTable(sha256);
  const id = idOf("厨房吸顶灯", table);
  expect(id).toMatch(/^device-[0-9a-f]{6}$/);
  expect(idOf("客厅的灯", table)).toBe(id);
  expect(idOf("厨房吸顶灯")).toBe(id);
});

test("V13: an id of an earlier version stays", () => {
  const before = new IdTable(sha256);
  const { key, identities } = before.rowOf(["zigbee_0x1"], "lampa", new Set());
  const after = new IdTable(sha256);
  after.restore([{ key, id: "azienka-lampa", identities }]);
  expect(idOf("łazienka lampa", after)).toBe("azienka-lampa");
});
