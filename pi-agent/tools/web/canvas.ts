import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import {
  type Content,
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "@edgecall/core/tools/contract.ts";
import type { Environment, FileOps } from "../../env/environment.ts";
import { formatSize } from "../../output/text-cut.ts";
import { orFault } from "../files/file-fault.ts";
import { filePath, statFuzzy } from "../files/file-path.ts";
import { imageType } from "../files/image-type.ts";

export const HTML_MAX_BYTES = 1024 * 1024;
const TITLE_MAX_CHARS = 200;
/**
 * The gateway's CSP blocks frames anyway. But a browser connects to a frame's address before it applies the CSP
 * (Chromium 156), which would reveal to that server that the page was opened.
 */
const FRAMES = /<(iframe|frame|object|embed|portal|fencedframe)[\s/>]/i;
const SCRIPTS = /<script[\s/>]|<[a-z][^<>]*\son[a-z]+\s*=/i;

/** Shows the person a page or picture. The gateway stores it and serves it in a sandbox where no script runs. */
export function canvas({ files }: Pick<Environment, "files">): Tool {
  return defineTool({
    name: "canvas",
    description: `Show something to the user: a page that you write in HTML (at most ${formatSize(HTML_MAX_BYTES)}: tables, SVG, inline styles; no scripts, no forms, nothing from elsewhere), or a picture from the workspace (jpeg, png, gif, webp).`,
    input: z.strictObject({
      html: z
        .optional(z.string().check(z.minLength(1), z.maxLength(HTML_MAX_BYTES)))
        .check(z.describe("The page; or give path")),
      path: z.optional(filePath("Picture file; relative ones start in the workspace")),
      title: z.string().check(z.minLength(1), z.maxLength(TITLE_MAX_CHARS), z.describe("What it shows")),
    }),
    // The device is not changed; a picture is read as `read` would.
    effect: "read",
    permission: "file_read",
    idempotent: true,
    // A picture also goes to the model, but a page is the model's own text.
    taints: true,
    taintsIn: ({ path }) => path !== undefined,
    timeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    async execute({ html, path, title }, context): Promise<ToolResult> {
      if (html !== undefined && path === undefined)
        return shownResult(await pageOf(html, title, context), title, SCRIPTS.test(html) ? NO_SCRIPTS : "");
      if (path !== undefined && html === undefined)
        return await orFault(async () => {
          const picture = await pictureOf(files, path, context);
          return "content" in picture ? picture : shownResult(picture, title);
        });
      return faultResult(
        "invalid_params",
        "Error: Invalid parameters for 'canvas': give either 'html' or 'path'.\nRequired: [title]. Optional: [html, path].",
      );
    },
  });
}

async function pageOf(html: string, title: string, { artifact }: ToolContext): Promise<Content | ToolResult> {
  const frame = FRAMES.exec(html)?.[1];
  if (frame !== undefined)
    return faultResult("invalid_params", {
      text: `Error: The page holds <${frame}>, and nothing from elsewhere can be shown in it.`,
      advice: "Leave it out.",
    });
  const bytes = new TextEncoder().encode(wholePage(html, title));
  if (bytes.length > HTML_MAX_BYTES)
    return faultResult("too_large", {
      text: `Error: The page has ${formatSize(bytes.length)}, over the limit of ${formatSize(HTML_MAX_BYTES)}.`,
      advice: "Make it shorter.",
    });
  return await artifact(bytes, "text/html");
}

/** Completes an HTML fragment to a page with a title and a viewport for telephones. */
function wholePage(html: string, title: string): string {
  if (/^\s*<(!doctype|html)\b/i.test(html)) return html;
  return `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>body{font:16px/1.5 sans-serif;margin:1em}img,svg{max-width:100%}</style>\n${html}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

async function pictureOf(
  files: FileOps,
  path: string,
  { artifact, signal }: ToolContext,
): Promise<Content | ToolResult> {
  const found = await statFuzzy(files, path, signal);
  const bytes = await files.readFile(found.path, { signal, length: MEDIA_MAX_BYTES + 1 });
  const mediaType = imageType(bytes);
  if (!mediaType)
    return faultResult("invalid_params", {
      text: `Error: '${path}' is not a picture (jpeg, png, gif or webp).`,
      advice: "For anything else, give 'html'.",
    });
  if (bytes.length > MEDIA_MAX_BYTES)
    return faultResult("too_large", {
      text: `Error: '${path}' has over ${formatSize(MEDIA_MAX_BYTES)}, the most that can be shown.`,
      advice: "Make a smaller copy first.",
    });
  return await artifact(bytes, mediaType);
}

const NO_SCRIPTS = "\n[Scripts in it do not run. What they would draw, write as HTML, CSS or SVG.]";

function shownResult(stored: Content | ToolResult, title: string, notice = ""): ToolResult {
  if ("content" in stored) return stored;
  // A small picture travels in the report; the gateway gives it an address.
  const where = stored.type === "artifact" ? `/v1/media/${stored.id}` : undefined;
  const text = where
    ? `Shown to the user: ${title}, at ${where}. Give the user that address.`
    : `Shown to the user: ${title}.`;
  return {
    content: [{ type: "text", text: text + notice }, stored],
    forUser: where ? `${title}: ${where}` : title,
    details: { title, ...(where && { address: where }) },
  };
}
