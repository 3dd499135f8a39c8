import { expect, test } from "vitest";
import { callTool } from "../testing/call.ts";
import type { Guide } from "./skill-guide.ts";
import { skill, skillMissing } from "./skill-loader.ts";

const pdf: Guide = { name: "pdf", description: "d", folder: "/skills/pdf", instructions: "Use pdftotext." };

test("a skill's instructions, and the place of its files", async () => {
  const { text, result } = await callTool(skill({ guides: [pdf] }), { name: "pdf" });
  expect(text).toBe("Skill 'pdf'. Files that it names are in /skills/pdf.\n\nUse pdftotext.");
  expect(result.details).toEqual({ skill: "pdf", folder: "/skills/pdf" });
});

test("an unknown skill gets the list of the known ones", async () => {
  const guides: Guide[] = [];
  const tool = skill({ guides });
  expect(await callTool(tool, { name: "x" })).toMatchObject({
    code: "not_found",
    text: "Error: There is no skill 'x'. Skills: none.\nCall skill with one of these names, or go on without.",
  });
  guides.push(pdf);
  expect((await callTool(tool, { name: "x" })).text).toContain("Skills: pdf.");
  expect((await callTool(tool, { name: "pdf" })).code).toBeUndefined();
});

test("without any it is missing, and says how to get one", async () => {
  expect(await skillMissing([pdf], "/s")).toBeUndefined();
  expect(await skillMissing([], "/s")).toBe("no skills with instructions: put one at /s/NAME/SKILL.md");
});
