/**
 * The gateway's files of languages, of which English and German are there. Files of tests share an isolate, which keeps a language that
 * it has read: so all of them read the same one, whole as the build writes it.
 */
import { news } from "@edgecall/core/automations/words/de.ts";
import { de as said } from "@edgecall/core/phrases/languages/de.ts";
import { compileLanguage } from "@edgecall/core/sentences/compile.ts";
import { de } from "@edgecall/core/sentences/languages/de.ts";
import { en } from "@edgecall/core/sentences/languages/en.ts";

const FILES: Readonly<Record<string, unknown>> = {
  "/phrases-de.json": { ...said, more: news },
  "/sentences-de.json": compileLanguage(de),
  "/sentences-en.json": compileLanguage(en),
};

/** The binding `ASSETS`. */
export const languageFiles = {
  fetch: async (request: Request) => {
    const file = FILES[new URL(request.url).pathname];
    return file ? Response.json(file) : new Response("not found", { status: 404 });
  },
};
