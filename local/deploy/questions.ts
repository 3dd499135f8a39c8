/** The questions of a first deploy at a terminal. */
import { createInterface } from "node:readline/promises";
import { apiOf } from "@edgecall/core/loop/api.ts";
import { isWorkerName, type Model, readModel } from "./options.ts";
import type { Account } from "./wrangler.ts";

export class DeployQuestions {
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  signIn(): Promise<boolean> {
    return this.#confirm("You are not signed in to Cloudflare. Open the browser to sign in?");
  }

  /** @param what its name, its size and where it goes */
  fetch(what: string): Promise<boolean> {
    this.#say(what);
    return this.#confirm("Fetch it?");
  }

  async account(accounts: readonly Account[]): Promise<Account> {
    for (const [index, { name, id }] of accounts.entries()) this.#say(`  ${index + 1}  ${name}  (${id})`);
    for (;;) {
      const chosen = accounts[Number(await this.#ask("Which account? ")) - 1];
      if (chosen) return chosen;
    }
  }

  async name(suggested: string): Promise<string> {
    for (;;) {
      const name = (await this.#ask(`Name of the gateway [${suggested}]: `)) || suggested;
      if (isWorkerName(name)) return name;
      this.#say("Expected 1 to 54 of a-z, 0-9 and -.");
    }
  }

  async model(): Promise<Model> {
    this.#say(
      "The model: Enter for Cloudflare's own (Workers AI, billed to your account beyond its free share),",
    );
    this.#say("or the address of any OpenAI-compatible endpoint, or of Anthropic's, up to and with /v1.");
    for (;;) {
      const baseUrl = await this.#ask("Model's address [Workers AI]: ");
      if (baseUrl === "") return { via: "workers-ai", model: undefined };
      const api =
        apiOf({ baseUrl }) === "anthropic"
          ? ""
          : await this.#ask("Does it speak openai or anthropic? [openai] ");
      const model = await this.#ask("Its name there: ");
      const apiKey = await this.#ask("Its key (empty if it wants none): ", { hidden: true });
      const read = readModel(baseUrl, model || undefined, apiKey || undefined, api || undefined);
      if (read.ok && read.value) return read.value;
      if (!read.ok) this.#say(read.error);
    }
  }

  async #confirm(question: string): Promise<boolean> {
    const answer = await this.#ask(`${question} [Y/n] `);
    return answer === "" || /^y/i.test(answer);
  }

  async #ask(question: string, { hidden = false } = {}): Promise<string> {
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
    const ended = new Promise<never>((_, reject) =>
      lines.once("SIGINT", () => reject(new Error("stopped; nothing was changed"))),
    );
    try {
      const answer = lines.question(question);
      if (hidden) {
        // The question is written by now; the typed answer is not shown.
        (lines as unknown as { _writeToOutput(text: string): void })._writeToOutput = () => {};
      }
      return (await Promise.race([answer, ended])).trim();
    } finally {
      lines.close();
      if (hidden) process.stderr.write("\n");
    }
  }
}
