import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { type Environment, FileError } from "../../env/environment.ts";
import { formatSize } from "../../output/text-cut.ts";
import { orFault } from "./file-fault.ts";
import { writeLock } from "./file-lock.ts";
import { asJudged, filePath, statExact, targetsOf } from "./file-path.ts";
import { EDIT_MAX_BYTES, readText } from "./file-text.ts";
import { fileDiff } from "./text-diff.ts";
import { Searched, type Span, withEndingsOf } from "./text-match.ts";

const EDIT_MAX_EDITS = 50;

/** Parameter names that models know from other agents. */
const EDIT_ALIASES = {
  oldText: "old_string",
  newText: "new_string",
  old_text: "old_string",
  new_text: "new_string",
};
const ALIASES = { ...EDIT_ALIASES, replaceAll: "replace_all", file_path: "path", edits: EDIT_ALIASES };

type Edit = { old_string: string; new_string: string };
type Splice = Span & { text: string };

const oldString = () =>
  z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(EDIT_MAX_BYTES),
      z.describe("Text in the file, with enough around it to be unique"),
    );
const newString = () => z.string().check(z.maxLength(EDIT_MAX_BYTES), z.describe("What takes its place"));

export function edit(environment: Pick<Environment, "name" | "files">): Tool {
  const { files } = environment;
  return defineTool({
    name: "edit",
    description: `Replace text in a file of this device's workspace folder (up to ${formatSize(EDIT_MAX_BYTES)}). old_string has to be in it exactly once, or set replace_all. For several changes of one file give edits instead; all of them are made or none.`,
    input: z.strictObject({
      path: filePath("Path of the file; relative ones start in the workspace"),
      old_string: z.optional(oldString()),
      new_string: z.optional(newString()),
      replace_all: z.optional(z.boolean()).check(z.describe("Replace every occurrence (default false)")),
      edits: z
        .optional(
          z
            .array(z.strictObject({ old_string: oldString(), new_string: newString() }))
            .check(z.minLength(1), z.maxLength(EDIT_MAX_EDITS)),
        )
        .check(z.describe("Several replacements, each found in the file as it is now")),
    }),
    effect: "write",
    permission: "file_write",
    idempotent: false,
    timeoutMs: 5_000,
    maxTimeoutMs: 30_000,
    lock: () => writeLock(environment),
    targets: ({ path }, signal) => targetsOf(files, [path], signal),
    aliases: ALIASES,
    async execute(
      { path, old_string, new_string, replace_all = false, edits },
      context,
    ): Promise<ToolResult> {
      const { signal } = context;
      return await orFault(async () => {
        const wanted = editsOf({ old_string, new_string, edits });
        await statExact(files, path, signal);
        const before = await readText(files, path, signal);
        const splices = splicesOf(path, before, wanted, replace_all);
        const after = spliced(before, splices);
        if (after === before) {
          throw new FileError(
            "no_change",
            `The replacement is the same as what is in '${path}' already. Nothing was changed.`,
          );
        }
        await files.writeFile(path, new TextEncoder().encode(after), asJudged(context, path));
        return resultOf(path, before, after, splices.length);
      });
    },
  });
}

function editsOf({
  old_string,
  new_string,
  edits,
}: {
  old_string: string | undefined;
  new_string: string | undefined;
  edits: Edit[] | undefined;
}): Edit[] {
  if (edits !== undefined && old_string === undefined && new_string === undefined) return edits;
  if (edits === undefined && old_string !== undefined && new_string !== undefined)
    return [{ old_string, new_string }];
  throw new FileError(
    "invalid_params",
    "Invalid parameters for 'edit': give old_string and new_string, or edits, and not both.",
  );
}

function splicesOf(path: string, text: string, edits: readonly Edit[], all: boolean): Splice[] {
  const searched = new Searched(text);
  const splices = edits
    .flatMap(({ old_string, new_string }, index) => {
      const which = edits.length === 1 ? "old_string" : `old_string of edit ${index + 1}`;
      const { spans } = searched.find(old_string);
      if (spans.length === 0) throw noMatch(path, which);
      if (spans.length > 1 && !all) throw notUnique(path, which, spans.length);
      return apart(spans).map((span) => ({ ...span, text: withEndingsOf(text, span, new_string) }));
    })
    .sort((a, b) => a.start - b.start);
  const overlaps = splices.some(({ start }, index) => start < (splices[index - 1]?.end ?? 0));
  if (overlaps) {
    throw new FileError("overlap", {
      text: `Two of the edits change the same place in '${path}'. Nothing was changed.`,
      advice: "Make one edit of them.",
    });
  }
  return splices;
}

/** Leaves out spans that overlap the one before. */
function apart(spans: readonly Span[]): Span[] {
  let end = 0;
  return spans.filter((span) => {
    if (span.start < end) return false;
    end = span.end;
    return true;
  });
}

function spliced(text: string, splices: readonly Splice[]): string {
  let from = 0;
  let made = "";
  for (const { start, end, text: put } of splices) {
    made += text.slice(from, start) + put;
    from = end;
  }
  return made + text.slice(from);
}

function noMatch(path: string, which: string): FileError {
  return new FileError("no_match", {
    text: `${which} is not in '${path}'. Nothing was changed.`,
    advice: "Read the file and copy the text from it, white space and all.",
  });
}

function notUnique(path: string, which: string, count: number): FileError {
  return new FileError("not_unique", {
    text: `${which} is in '${path}' ${count} times. Nothing was changed.`,
    advice: "Give more of the lines around it, or set replace_all=true.",
  });
}

function resultOf(path: string, before: string, after: string, count: number): ToolResult {
  const diff = fileDiff(path, before, after);
  const places = count === 1 ? "1 place" : `${count} places`;
  const text = `Edited ${path}: ${places}${diff ? ` (+${diff.added} -${diff.removed} lines, first at line ${diff.firstLine})` : ""}.`;
  return {
    content: [{ type: "text", text }],
    forUser: diff ? `${text}\n${diff.text}` : text,
    details: { path, replaced: count, ...(diff && { first_line: diff.firstLine }) },
  };
}
