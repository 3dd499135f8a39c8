import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { counted } from "@edgecall/core/text/counted.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import type { Environment, FileOps } from "../../env/environment.ts";
import { READABLE_FILES } from "../../env/path-guard.ts";
import { LineWindow } from "../../output/line-window.ts";
import {
  CUT_MAX_BYTES,
  CUT_MAX_LINES,
  cutNotice,
  formatSize,
  NOTICE_BYTES,
  withNotice,
} from "../../output/text-cut.ts";
import { FILE_READ } from "../reads.ts";
import { orFault } from "./file-fault.ts";
import { filePath, statFuzzy } from "./file-path.ts";
import { imageType } from "./image-type.ts";

export const READ_MAX_BYTES = 512 * 1024;
export const READ_MAX_LINES = CUT_MAX_LINES;
/**
 * Lines are counted up to this size, for the "of N". In a larger file the read ends once it has its lines, because counting
 * would take seconds on a small device.
 */
export const COUNTED_BYTES = 16 * 1024 * 1024;
/** Bytes of one read step. A step is a whole process in a sandbox or over ssh, so it should not be small. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * @param options.maxBytes most bytes of text in one result, in addition to the general limit of 50 KB
 * @param options.maxLines most lines in one result
 */
export function read(
  environment: Pick<Environment, "files">,
  { maxBytes = READ_MAX_BYTES, maxLines = READ_MAX_LINES }: { maxBytes?: number; maxLines?: number } = {},
): Tool {
  const { files } = environment;
  const limitBytes = Math.min(maxBytes, CUT_MAX_BYTES);
  return defineTool({
    name: "read",
    description: `Read a file of this device: from its workspace folder, or ${READABLE_FILES.join(" or ")}. Text: at most ${maxLines} lines or ${formatSize(limitBytes)} at once; use offset to continue. Images (jpeg, png, gif, webp) are shown as pictures.`,
    input: z.strictObject({
      path: filePath("Path of the file; relative ones start in the workspace"),
      offset: z.optional(z.int().check(z.minimum(1), z.maximum(1e9))).check(z.describe("First line, from 1")),
      limit: z
        .optional(z.int().check(z.minimum(1), z.maximum(maxLines)))
        .check(z.describe("How many lines at most")),
    }),
    ...FILE_READ,
    async execute({ path, offset = 1, limit }, context): Promise<ToolResult> {
      return await orFault(async () => {
        const found = await statFuzzy(files, path, context.signal);
        if (found.info.kind === "directory") {
          return faultResult("is_directory", {
            text: `Error: '${path}' is a folder, not a file.`,
            advice: "Use ls to list it.",
          });
        }
        const first = await files.readFile(found.path, { signal: context.signal, length: CHUNK_BYTES });
        const mediaType = imageType(first);
        if (mediaType) return await pictureOf(files, found.path, mediaType, context);
        const window = new LineWindow(offset, limit ?? maxLines, limitBytes - NOTICE_BYTES);
        const scanned = await scan(files, found.path, first, window, context.signal);
        if (scanned === "binary") {
          return faultResult(
            "is_binary",
            `Error: '${path}' is not a text file (not UTF-8, or with NUL bytes). It has ${formatSize(found.info.bytes)}.`,
          );
        }
        return resultOf({ path, window, limit, limitBytes, total: scanned, bytes: found.info.bytes });
      });
    },
  });
}

async function pictureOf(
  files: FileOps,
  path: string,
  mediaType: string,
  { signal, artifact }: ToolContext,
): Promise<ToolResult> {
  const bytes = await files.readFile(path, { signal, length: MEDIA_MAX_BYTES + 1 });
  if (bytes.length > MEDIA_MAX_BYTES) {
    return faultResult("too_large", {
      text: `Error: '${path}' is an image of over ${formatSize(MEDIA_MAX_BYTES)}, the most that can be sent.`,
      advice: "Make a smaller copy first.",
    });
  }
  const picture = await artifact(bytes, mediaType);
  const text = `Read image file [${mediaType}] (${formatSize(bytes.length)})`;
  return {
    content: [{ type: "text", text }, picture],
    details: { media_type: mediaType, bytes: bytes.length },
  };
}

/** Feeds the file to the window. @returns the number of lines, if they were all counted */
async function scan(
  files: FileOps,
  path: string,
  first: Uint8Array,
  window: LineWindow,
  signal: AbortSignal,
): Promise<"binary" | number | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (let chunk = first, position = 0; ; ) {
    position += chunk.length;
    // A short read is the end. Files without a size end with an empty read.
    const last = chunk.length < CHUNK_BYTES;
    if (chunk.includes(0)) return "binary";
    try {
      window.add(decoder.decode(chunk, { stream: !last }));
    } catch {
      return "binary";
    }
    if (last) {
      window.end();
      return window.total;
    }
    if (window.full && position >= COUNTED_BYTES) return undefined;
    chunk = await files.readFile(path, { signal, offset: position, length: CHUNK_BYTES });
  }
}

function resultOf({
  path,
  window,
  limit,
  limitBytes,
  total,
  bytes,
}: {
  path: string;
  window: LineWindow;
  limit: number | undefined;
  limitBytes: number;
  total: number | undefined;
  bytes: number;
}): ToolResult {
  const { first, shown, text, tooLong } = window;
  if (total === 0 && first === 1) return textResult("(empty file)", { lines: 0 });
  if (total !== undefined && first > total) {
    return faultResult(
      "beyond_eof",
      `Error: Offset ${first} is beyond the end of '${path}' (${counted(total, "line")} total).`,
    );
  }
  if (shown === 0 && tooLong !== undefined) {
    return faultResult("too_large", {
      text: `Error: Line ${first} of '${path}' has ${total === undefined ? "over " : ""}${formatSize(tooLong)}, over the limit of ${formatSize(limitBytes)}.`,
      advice: `Use offset=${first + 1} to go on after it, or grep for a part of it.`,
    });
  }
  const last = first + shown - 1;
  const details = { first, last, ...(total !== undefined && { lines: total }), bytes };
  if (last === total) return textResult(text, details);
  const next = `Use offset=${last + 1} to continue.`;
  if (limit !== undefined && tooLong === undefined && total !== undefined)
    return textResult(withNotice(text, `[${total - last} more lines in file. ${next}]`), details);
  const notice = cutNotice({
    what: "lines",
    first,
    last,
    of: total,
    limitBytes: tooLong === undefined ? undefined : limitBytes,
    next: total === undefined ? `The file has ${formatSize(bytes)}. ${next}` : next,
  });
  return textResult(withNotice(text, notice), details);
}
