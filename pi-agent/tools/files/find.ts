import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { FILE_READ } from "../reads.ts";
import { orFault } from "./file-fault.ts";
import { filePath } from "./file-path.ts";
import { PATTERN_MAX_CHARS } from "./grep.ts";
import { FILES_LIMIT, FILES_MAX, listFiles } from "./list-files.ts";

type Place = Pick<Environment, "cwd" | "files" | "exec">;

export function find(environment: Place): Tool {
  return listing(environment, {
    name: "find",
    description: `Find files by name in this device's workspace folder: *.log in any folder, src/**/*.ts by path. Sorted by path. node_modules and __pycache__ only when named. At most ${FILES_LIMIT} (limit).`,
    newestFirst: false,
  });
}

export function glob(environment: Place): Tool {
  return listing(environment, {
    name: "glob",
    description: `List files of this device's workspace folder that fit a glob, the last changed first: *.log in any folder, src/**/*.ts by path. node_modules and __pycache__ only when named. At most ${FILES_LIMIT} (limit).`,
    newestFirst: true,
  });
}

function listing(environment: Place, own: { name: string; description: string; newestFirst: boolean }): Tool {
  const { newestFirst, ...words } = own;
  return defineTool({
    ...words,
    input: z.strictObject({
      pattern: z
        .string()
        .check(z.minLength(1), z.maxLength(PATTERN_MAX_CHARS), z.describe("Glob: *, ?, **, [a-z], {a,b}")),
      path: z.optional(filePath("Folder to look in; the workspace when left out")),
      limit: z.optional(z.int().check(z.minimum(1), z.maximum(FILES_MAX))),
    }),
    ...FILE_READ,
    async execute({ pattern, path = ".", limit = FILES_LIMIT }, { signal }): Promise<ToolResult> {
      return await orFault(
        async () => await listFiles(environment, { pattern, path, limit, newestFirst }, signal),
      );
    },
  });
}
