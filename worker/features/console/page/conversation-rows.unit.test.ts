import { expect, test } from "vitest";
import { type Row, withFirstPage, withMessage, withNextPage } from "./conversation-rows.ts";

const row = (id: string, last_at: number): Row => ({ id, title: `about ${id}`, last_at });
const page = (next: string | null, ...conversations: Row[]) => ({ conversations, next });
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id).join(" ");

test("a new conversation stays the first one until the gateway lists it", () => {
  const asked = withMessage([], "new", "is it warm", 1);
  const early = withFirstPage(asked, page(null, row("b", 20), row("a", 10)));
  expect(early).toMatchObject([{ id: "new", title: "is it warm" }, { id: "b" }, { id: "a" }]);
  const listed = withFirstPage(early, page(null, row("new", 30), row("b", 20)));
  expect(ids(listed)).toBe("new b");
  // It is like any other one from then on.
  expect(ids(withFirstPage(listed, page(null, row("b", 20))))).toBe("b");
});

test("an earlier conversation with a new message is the first one, with its own title and reader", () => {
  const known = [row("b", 20), { ...row("a", 10), principal: "ben" }];
  expect(withMessage(known, "a", "and now", 30)).toEqual([
    { ...known[1], last_at: 30, noted: true },
    known[0],
  ]);
});

test("what the first page would list, and does not, is gone; what is below it stays", () => {
  const known = [row("d", 40), row("c", 30), row("b", 20), row("a", 10)];
  expect(ids(withFirstPage(known, page("b", row("d", 40), row("b", 20))))).toBe("d b a");
  expect(ids(withFirstPage(known, page(null, row("d", 40), row("b", 20))))).toBe("d b");
  expect(ids(withFirstPage(known, page(null)))).toBe("");
  // Of one time the names say what is below.
  const equal = [row("c", 20), row("a", 20)];
  expect(ids(withFirstPage(equal, page("b", row("b", 20))))).toBe("b a");
});

test("a later page comes below, without those that have moved up meanwhile", () => {
  expect(ids(withNextPage([row("a", 50), row("c", 30)], page(null, row("b", 20), row("a", 10))))).toBe(
    "a c b",
  );
});
