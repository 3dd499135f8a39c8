/** At the start a model server of this machine is offered to the person, who takes it by one answer. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { AnswerOf, Client } from "@edgecall/client/client.ts";

type View = AnswerOf<"GET /v1/model">;
type Found = View["found"][number];

/** @property ask absent: nobody is at the terminal @property say for a person */
type Terminal = { say(line: string): void; ask?: (question: string) => Promise<string> };

/** In the state folder: the person said no, and is not asked again. */
const DECLINED = "model-declined";

/** A terminal where a person is. Ctrl-C stays a signal, since the terminal itself edits the line. */
export function personAt(
  { stdin, stdout }: Pick<NodeJS.Process, "stdin" | "stdout">,
  signal: AbortSignal,
): Terminal["ask"] {
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  return async (question) => {
    const lines = createInterface({ input: stdin, output: stdout, terminal: false });
    try {
      return await lines.question(question, { signal });
    } finally {
      lines.close();
      stdin.unref();
    }
  };
}

/**
 * Says which model the home has. Where it has none, or Cloudflare's default, and a server runs here, it offers that.
 * @param page the console's address @param dir the state folder
 */
export async function offerModel(
  client: Client,
  { page, dir }: { page: string; dir: string },
  { say, ask }: Terminal,
): Promise<void> {
  const view = await client.json("GET /v1/model");
  if (view.set_by === "variables") return;
  const setup = `${page}#/setup/model`;
  if (view.set_by === "setup") {
    say(`model: ${view.model} at ${view.base_url} (${setup})`);
    if (view.problem) say(view.problem);
    return;
  }
  const [first] = view.found;
  if (!first) {
    say(`model: none, so plain sentences alone are understood; choose one: ${setup}`);
    return;
  }
  const offer = `${first.server} runs here with ${namesOf(first)}`;
  if (!ask || existsSync(join(dir, DECLINED))) {
    say(`model: none yet. ${offer}; take it by one tap: ${setup}`);
    return;
  }
  await answerOffer(
    client,
    first,
    { question: `\n${offer}. Use ${first.models[0]} here? [Y/n] `, dir, setup },
    { say, ask },
  );
}

async function answerOffer(
  client: Client,
  { base_url, models: [model = ""] }: Found,
  { question, dir, setup }: { question: string; dir: string; setup: string },
  { say, ask }: Required<Terminal>,
): Promise<void> {
  const answer = (await ask(question)).trim();
  if (!/^(y(es)?)?$/i.test(answer)) {
    writeFileSync(join(dir, DECLINED), "");
    say(`No model is used. Choose one when you like: ${setup}`);
    return;
  }
  await client.json("PUT /v1/model", { body: { base_url, model } });
  say(`${model} answers from now on. Try it, or choose another one: ${setup}`);
}

function namesOf({ models }: Found): string {
  const more = models.length - 1;
  return `${models[0]}${more > 0 ? ` and ${more} more` : ""}`;
}
