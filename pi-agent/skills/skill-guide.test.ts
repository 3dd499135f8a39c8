import { expect, test } from "vitest";
import { guideList } from "./guide-list.ts";
import { GUIDE_MAX_BYTES, type Guide, headFields, readGuide } from "./skill-guide.ts";

test("head and instructions", () => {
  const text =
    "\ufeff---\r\nname: pdf\r\ndescription: Work with PDF --- files.\r\n---\r\n\r\n# PDF\r\n\r\n---\r\nUse it.\r\n";
  expect(readGuide(text, "/skills/other")).toEqual({
    name: "pdf",
    description: "Work with PDF --- files.",
    folder: "/skills/other",
    instructions: "# PDF\n\n---\nUse it.",
  });
});

test("without a name in the head, the folder's name is used", () => {
  expect(readGuide("---\ndescription: d\n---\nx", "/skills/pdf")).toMatchObject({ name: "pdf" });
});

test("the forms of text in a head", () => {
  const head = [
    "name: pdf # the name",
    'description: "with: \\"quotes\\""',
    "license: 'it''s free'",
    "folded: >-",
    "  two",
    "  lines",
    "kept: |",
    "  two",
    "  lines",
    "long: begins",
    "  and goes on",
    "metadata:",
    "  author: x",
    "last: end",
  ].join("\n");
  expect(Object.fromEntries(headFields(head))).toMatchObject({
    name: "pdf",
    description: 'with: "quotes"',
    license: "it's free",
    folded: "two lines",
    kept: "two\nlines",
    long: "begins and goes on",
    last: "end",
  });
});

test.each([
  ["no head", "# Title", "it has to begin with ---"],
  ["no description", "---\nname: a\n---\nx", "description: missing"],
  ["a name that is none", "---\nname: a b\ndescription: d\n---\nx", "name: right would be"],
  ["no instructions", "---\ndescription: d\n---\n \n", "no instructions below its head"],
  ["too long", `---\ndescription: d\n---\n${"x".repeat(GUIDE_MAX_BYTES)}`, "more than 49152 bytes"],
])("refused: %s", (_what, text, reason) => {
  expect(readGuide(text, "/skills/a")).toContain(reason);
});

test("the list for the system prompt", () => {
  const guide = (name: string, description: string): Guide => ({
    name,
    description,
    folder: "/f",
    instructions: "x",
  });
  expect(guideList([])).toBe("");
  expect(guideList([guide("pdf", "Work with\nPDF files."), guide("long", "x".repeat(300))])).toBe(
    [
      "Skills are instructions for kinds of work. When a question fits one, call the tool 'skill' with its name first, and follow what it says:",
      "- pdf: Work with PDF files.",
      `- long: ${"x".repeat(249)}…`,
    ].join("\n"),
  );
  const many = Array.from({ length: 32 }, (_, index) => guide(`s${index}`, "d"));
  expect(guideList(many)).toMatch(/- s29: d\n- and 2 more: s30, s31$/);
});
