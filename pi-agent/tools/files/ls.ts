import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, type ToolResult, textResult } from "@edgecall/core/tools/contract.ts";
import type { DirEntry, Environment } from "../../env/environment.ts";
import { CUT_MAX_BYTES, cutNotice, NOTICE_BYTES, truncateHead, withNotice } from "../../output/text-cut.ts";
import { FILE_READ } from "../reads.ts";
import { orFault } from "./file-fault.ts";
import { filePath } from "./file-path.ts";

const LS_LIMIT = 500;
const LS_MAX = 5_000;

export function ls(environment: Pick<Environment, "files">): Tool {
  const { files } = environment;
  return defineTool({
    name: "ls",
    description: `List a folder of this device's workspace, hidden files too: folders end in /, links in @. At most ${LS_LIMIT} entries (limit).`,
    input: z.strictObject({
      path: z.optional(filePath("Folder; the workspace when left out")),
      limit: z.optional(z.int().check(z.minimum(1), z.maximum(LS_MAX))),
    }),
    ...FILE_READ,
    async execute({ path = ".", limit = LS_LIMIT }, { signal }): Promise<ToolResult> {
      return await orFault(async () => {
        const entries = await files.readDir(path, { signal });
        const details = { entries: entries.length };
        if (entries.length === 0) return textResult("(empty folder)", details);
        const names = entries.map(shownName).join("\n");
        const { content, by, shown } = truncateHead(names, {
          maxLines: limit,
          maxBytes: CUT_MAX_BYTES - NOTICE_BYTES,
        });
        if (by === null) return textResult(content, details);
        const notice = cutNotice({
          what: "entries",
          first: 1,
          last: shown.lines,
          of: entries.length,
          limitBytes: by === "bytes" ? CUT_MAX_BYTES : undefined,
          next:
            by === "bytes" || limit === LS_MAX
              ? "Use find with a pattern."
              : `Use limit=${Math.min(2 * limit, LS_MAX)} for more.`,
        });
        return textResult(withNotice(content, notice), details);
      });
    },
  });
}

function shownName({ name, kind }: DirEntry): string {
  const plain = name.replaceAll(/\p{Cc}/gu, "\ufffd");
  return kind === "directory" ? `${plain}/` : kind === "link" ? `${plain}@` : plain;
}
