import { dirname } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { type Environment, FileError, type FileOps } from "../../env/environment.ts";
import { formatSize } from "../../output/text-cut.ts";
import { orFault } from "./file-fault.ts";
import { writeLock } from "./file-lock.ts";
import { asJudged, filePath, targetsOf } from "./file-path.ts";
import { DIFF_MAX_BYTES, fileDiff } from "./text-diff.ts";

/** More than a command can hold (9 KiB for foreign agents, 256 KiB for ours), but the device's own model may send it. */
export const WRITE_MAX_CHARS = 1024 * 1024;

export function write(environment: Pick<Environment, "name" | "files">): Tool {
  const { files } = environment;
  return defineTool({
    name: "write",
    description:
      "Write a text file in this device's workspace folder: makes it and its parent folders, or replaces all of it. For a change of a part use edit.",
    input: z.strictObject({
      path: filePath("Path of the file; relative ones start in the workspace"),
      content: z
        .string()
        .check(z.maxLength(WRITE_MAX_CHARS), z.describe("The whole content, written byte for byte")),
      overwrite: z
        .optional(z.boolean())
        .check(z.describe("false: fail when the file is there already (default true)")),
    }),
    effect: "write",
    permission: "file_write",
    idempotent: true,
    timeoutMs: 5_000,
    maxTimeoutMs: 30_000,
    lock: () => writeLock(environment),
    targets: ({ path }, signal) => targetsOf(files, [path], signal),
    async execute({ path, content, overwrite = true }, context): Promise<ToolResult> {
      const { signal } = context;
      return await orFault(async () => {
        const old = await whatIsThere(files, path, signal);
        const created = old.is === "absent";
        if (!created && !overwrite) {
          return faultResult("exists", {
            text: `Error: '${path}' is there already. Nothing was written.`,
            advice: "Use overwrite=true to replace it, or edit to change a part.",
          });
        }
        const bytes = new TextEncoder().encode(content);
        if (created) await files.mkdirAll(dirname(path), asJudged(context, path));
        await files.writeFile(path, bytes, asJudged(context, path));
        const text = `${created ? "Created" : "Replaced"} ${path} (${formatSize(bytes.length)}).`;
        const diff = old.is === "text" ? fileDiff(path, old.text, content) : undefined;
        return {
          content: [{ type: "text", text }],
          forUser: diff ? `${text}\n${diff.text}` : text,
          details: { path, bytes: bytes.length, created },
        };
      });
    },
  });
}

/** The present file: absent, a text to compare with, or something that can only be replaced. */
type Old = { is: "absent" } | { is: "text"; text: string } | { is: "opaque" };

async function whatIsThere(files: FileOps, path: string, signal: AbortSignal): Promise<Old> {
  const info = await files.stat(path, { signal }).catch((error: unknown) => {
    if (!(error instanceof FileError)) throw error;
    return error.code;
  });
  if (info === "not_found") return { is: "absent" };
  // The write itself reports what is wrong.
  if (typeof info === "string") return { is: "opaque" };
  // For a dangling link, its target is created.
  if (info.kind === "link") return { is: "absent" };
  if (info.kind !== "file" || info.bytes > DIFF_MAX_BYTES) return { is: "opaque" };
  // A file that may be written but not read is still replaced.
  const bytes = await files.readFile(path, { signal }).catch(() => undefined);
  if (bytes === undefined || bytes.includes(0)) return { is: "opaque" };
  return { is: "text", text: new TextDecoder().decode(bytes) };
}
