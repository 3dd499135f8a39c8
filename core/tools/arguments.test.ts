import { expect, test } from "vitest";
import { z } from "../protocol/parse.ts";
import { parseArguments } from "./arguments.ts";
import { textOf } from "./contract.ts";
import { schemaForModels } from "./schema-for-models.ts";

const text = z.optional(z.string());
const tool = {
  name: "edit",
  input: z.strictObject({
    path: z.string(),
    old_string: text,
    new_string: text,
    all: z.optional(z.boolean()),
    edits: z.optional(z.array(z.strictObject({ old_string: text, new_string: text }))),
  }),
  aliases: {
    file_path: "path",
    oldText: "old_string",
    newText: "new_string",
    old_text: "old_string",
    edits: { oldText: "old_string", newText: "new_string" },
  },
};

const words = (args: Record<string, unknown>) => {
  const parsed = parseArguments(tool, args);
  return parsed.ok ? parsed.input : textOf(parsed.fault).split("\n")[0];
};

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ["an alias", { file_path: "a" }, { path: "a" }],
  [
    "aliases within a list",
    { path: "a", edits: [{ oldText: "b", newText: "c" }] },
    { path: "a", edits: [{ old_string: "b", new_string: "c" }] },
  ],
  [
    "aliases within a list that is a text",
    { path: "a", edits: '[{"oldText":"b","newText":"c"}]' },
    { path: "a", edits: [{ old_string: "b", new_string: "c" }] },
  ],
  ["null under the other name is left out", { path: null, file_path: "a" }, { path: "a" }],
  ["mended values", { file_path: "a", all: "true" }, { path: "a", all: true }],
])("S1 arguments get their canonical form: %s", (_, args, form) => {
  expect(words(args)).toEqual(form);
});

test.each<[string, Record<string, unknown>, string]>([
  ["the name and its alias", { path: "a", file_path: "b" }, "'path' and 'file_path' are two names of 'path'"],
  ["in the other order", { file_path: "b", path: "a" }, "'file_path' and 'path' are two names of 'path'"],
  ["also with the same value", { path: "a", file_path: "a" }, "give only 'path'"],
  [
    "two aliases",
    { path: "a", oldText: "x", old_text: "y" },
    "'oldText' and 'old_text' are two names of 'old_string'",
  ],
  [
    "within a list, with its place",
    { path: "a", edits: [{}, { new_string: "safe", newText: "EVIL" }] },
    "edits.1.'new_string' and 'newText' are two names of 'new_string'",
  ],
  [
    "within a list that is a text",
    { path: "a", edits: '[{"new_string":"safe","newText":"EVIL"}]' },
    "two names of 'new_string'",
  ],
  ["a name of Object's", { path: "a", constructor: "b" }, "constructor"],
  ["__proto__", JSON.parse('{"path":"a","__proto__":{"path":"b"}}'), "__proto__"],
  ["half of a character", { path: "a\ud800" }, "path: half of a character"],
  [
    "half of a character within a list",
    { path: "a", edits: [{ old_string: "\udc00" }] },
    "edits.0.old_string: half",
  ],
])("S1 ambiguous or broken arguments are refused by name: %s", (_, args, problem) => {
  expect(words(args)).toContain(problem);
});

test("L2: a text that stands for another type is read as what the whole schema takes", () => {
  const input = z.record(z.string(), z.unknown());
  const schema = {
    type: "object",
    properties: {
      level: { oneOf: [{ type: "number" }, { type: "boolean" }] },
      either: { type: ["number", "string"] },
      odd: { anyOf: "nothing", oneOf: [null, 5] },
    },
    required: ["level"],
  };
  input._zod.toJSONSchema = () => schema;
  expect(schemaForModels(schema).properties.level).toEqual({
    type: "string",
    description: "number or true/false",
  });
  const args = { level: "0.5", either: "7", odd: "x" };
  expect(parseArguments({ name: "t", input }, args)).toEqual({ ok: true, input: { ...args, level: 0.5 } });
  expect(parseArguments({ name: "t", input }, { level: "true" })).toEqual({
    ok: true,
    input: { level: true },
  });
});
