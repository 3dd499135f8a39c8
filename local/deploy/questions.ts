/** The questions of a first deploy at a terminal. */
import { apiOf } from "@edgecall/core/loop/api.ts";
import { askLine, confirm } from "../terminal.ts";
import { isWorkerName, type Model, readModel } from "./options.ts";
import type { Account } from "./wrangler.ts";

export class DeployQuestions {
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  signIn(): Promise<boolean> {
    return confirm("You are not signed in to Cloudflare. Open the browser to sign in?");
  }

  /** @param what its name, its size and where it goes */
  fetch(what: string): Promise<boolean> {
    this.#say(what);
    return confirm("Fetch it?");
  }

  async account(accounts: readonly Account[]): Promise<Account> {
    for (const [index, { name, id }] of accounts.entries()) this.#say(`  ${index + 1}  ${name}  (${id})`);
    for (;;) {
      const chosen = accounts[Number(await askLine("Which account? ")) - 1];
      if (chosen) return chosen;
    }
  }

  async name(suggested: string): Promise<string> {
    for (;;) {
      const name = (await askLine(`Name of the gateway [${suggested}]: `)) || suggested;
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
      const baseUrl = await askLine("Model's address [Workers AI]: ");
      if (baseUrl === "") return { via: "workers-ai", model: undefined };
      const api =
        apiOf({ baseUrl }) === "anthropic"
          ? ""
          : await askLine("Does it speak openai or anthropic? [openai] ");
      const model = await askLine("Its name there: ");
      const apiKey = await askLine("Its key (empty if it wants none): ", { hidden: true });
      const read = readModel(baseUrl, model || undefined, apiKey || undefined, api || undefined);
      if (read.ok && read.value) return read.value;
      if (!read.ok) this.#say(read.error);
    }
  }
}
