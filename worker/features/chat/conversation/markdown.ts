/** Reads Markdown of a message, once the names of characters that it may have can be read. */
import { readCharacterNames } from "../../../kernel/character-names.ts";
import type { Env } from "../../../kernel/env.ts";
import type { Content } from "../platforms/format/blocks.ts";
import { markdownContent } from "../platforms/format/parse.ts";

const NAME = /&[a-z]/i;

export async function readMarkdown(env: Pick<Env, "ASSETS">, markdown: string): Promise<Content> {
  if (NAME.test(markdown)) await readCharacterNames(env);
  return markdownContent(markdown);
}
