import { dirname } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { formatSize } from "../../output/text-cut.ts";
import { orFault } from "./file-fault.ts";
import { writeLock } from "./file-lock.ts";
import { asJudged, filePath, targetsOf } from "./file-path.ts";
import { WRITE_MAX_CHARS } from "./write.ts";

/** The whole file is written again, so a larger log needs a shell's `>>`. */
export const APPEND_MAX_FILE_BYTES = 8 * 1024 * 1024;

export function append(environment: Pick<Environment, "name" | "files">): Tool {
  const { files } = environment;
  return defineTool({
    name: "append",
    description: `Append text to the end of a file in this device's workspace folder (notes, lists, logs up to ${formatSize(APPEND_MAX_FILE_BYTES)}); makes it when it is not there. Nothing is put between: begin with a newline where one is wanted.`,
    input: z.strictObject({
      path: filePath("Path of the file; relative ones start in the workspace"),
      content: z
        .string()
        .check(z.minLength(1), z.maxLength(WRITE_MAX_CHARS), z.describe("What to append, byte for byte")),
    }),
    effect: "write",
    permission: "file_write",
    idempotent: false,
    timeoutMs: 5_000,
    maxTimeoutMs: 30_000,
    lock: () => writeLock(environment),
    targets: ({ path }, signal) => targetsOf(files, [path], signal),
    async execute({ path, content }, context): Promise<ToolResult> {
      const { signal } = context;
      return await orFault(async () => {
        const old = await files
          .readFile(path, { signal, length: APPEND_MAX_FILE_BYTES + 1 })
          .catch((error: { code?: unknown }) => {
            if (error.code !== "not_found") throw error;
          });
        if (old && old.length > APPEND_MAX_FILE_BYTES) {
          return faultResult("too_large", {
            text: `Error: '${path}' has over ${formatSize(APPEND_MAX_FILE_BYTES)}. Nothing was appended.`,
            advice: "Use bash with >> instead.",
          });
        }
        if (!old) await files.mkdirAll(dirname(path), asJudged(context, path));
        const bytes = Buffer.concat([old ?? new Uint8Array(), new TextEncoder().encode(content)]);
        await files.writeFile(path, bytes, asJudged(context, path));
        const added = formatSize(Buffer.byteLength(content));
        const text = `Appended ${added} to ${path} (${formatSize(bytes.length)} now).`;
        return {
          content: [{ type: "text", text }],
          forUser: text,
          details: { path, bytes: bytes.length, created: !old },
        };
      });
    },
  });
}
