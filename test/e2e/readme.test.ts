/** The README's first screen is what the demo home says: its commands are run, and its sentence is said. Figures differ each time. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import { RunningCommand } from "./command.ts";
import { killAll, npmStart, running, useStateFolder } from "./npm-start.ts";
import { ROOT } from "./program.ts";

const README = readFileSync(join(ROOT, "README.md"), "utf8");
/** Of a message in a chat, in part. */
type ShownTurn = { answer: string | null; rules?: Array<{ buttons: Array<{ label: string }> }> };

/** The freezer's door is left ajar at times, and a watch holds for a minute. */
const TOLD_MS = 300_000;

const withoutFigures = (text: string) => text.replaceAll(/\d+(\.\d+)?/g, "#");

/** @param begins the fence and what stands right below it */
function block(begins: string): string {
  const from = README.indexOf(begins) + begins.indexOf("\n") + 1;
  return README.slice(from, README.indexOf("\n```", from));
}

/** On a terminal, where a person answers what they are asked as the README shows. */
async function printed(command: string, shown: string, dir: string): Promise<string> {
  const env = { TERM: "xterm", NO_COLOR: "1", EDGECALL_DIR: dir };
  const running = new RunningCommand("script", ["-qefc", command, "/dev/null"], env);
  const [, question, answer] = /^(.*\?) \[y\/n\] (.)$/m.exec(shown) ?? [];
  if (question !== undefined) {
    await running.writes(question, 60_000);
    running.types(`${answer}\r`);
  }
  const { out } = await running.ended;
  return stripVTControlCharacters(out)
    .replaceAll("\r", "")
    .replace(/^asking the stack that runs here already, at \S+\n/, "")
    .trim();
}

// /proc shows which processes belong to it.
describe("the README", { tags: ["needs/linux"], timeout: TOLD_MS + 180_000 }, () => {
  const folder = useStateFolder();

  test("shows a question, a command with its confirmation, and an alert as the demo home says them", async () => {
    try {
      const started = npmStart(folder.path, ["--demo"], { PORT: String(await freePort()) });
      const client = await running(started);
      await until(() => started.out().includes("This is a demo"), {
        within: 60_000,
        what: "the house is told",
      });
      const chat = block("```\nyou ")
        .split(/^(?=\S)/m)
        .map((line) =>
          line
            .replace(/^\w+\s+/, "")
            .replaceAll(/\s+/g, " ")
            .trim(),
        );
      const [sentence = "", ...told] = chat;
      expect(told).toHaveLength(2);
      await client.ask(sentence, "readme");

      const commands = block("```console\n$ ")
        .split(/^\$ /m)
        .flatMap((one) => (one === "" ? [] : [one.trim()]));
      expect(commands).toHaveLength(2);
      for (const one of commands) {
        const end = one.indexOf("\n");
        const [command, shown] = [one.slice(0, end), one.slice(end + 1)];
        expect(withoutFigures(await printed(command, shown, folder.path)), command).toBe(
          withoutFigures(shown),
        );
      }

      const answers = async () => {
        const turns = (await client.turns("readme")) as unknown as ShownTurn[];
        return turns.map(({ answer, rules = [] }) => {
          const labels = rules.flatMap(({ buttons }) => buttons.map(({ label }) => `[${label}]`));
          return withoutFigures([answer, ...labels].join(" "));
        });
      };
      const alert = { within: TOLD_MS, every: 1_000, what: "the alert" };
      await until(async () => (await answers()).length === told.length, alert);
      expect(await answers()).toEqual(told.map(withoutFigures));
    } finally {
      await killAll(join(folder.path, "demo"));
    }
  });
});
