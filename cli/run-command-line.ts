/** Finds the command for the words after `edgecall`, reads its options and runs it. */
import { parseArgs } from "node:util";
import { closest } from "@edgecall/core/text/closest.ts";
import { type Command, type CommandCall, EXIT, type Io, UsageError } from "./command.ts";
import { commandHelp, overview } from "./help.ts";
import { fileProblem } from "./service/file-problem.ts";

export async function runCommandLine(
  commands: readonly Command[],
  given: readonly string[],
  env: CommandCall["env"],
  io: Io,
): Promise<number> {
  const words = given[0] === "--version" ? ["version"] : given;
  const command = findCommand(commands, words);
  if (!command) return withoutCommand(commands, words, io);
  const wanted = words.slice(command.name.split(" ").length);
  try {
    const call = readCall(command, wanted, env, io);
    if (call.flag("help")) {
      io.out(commandHelp(command));
      return EXIT.ok;
    }
    return await (await command.load())(call);
  } catch (error) {
    const text = fileProblem(error);
    const usage = error instanceof UsageError;
    io.err(`edgecall ${command.name}: ${text}\n`);
    if (usage) io.err(`edgecall ${command.name} --help tells more\n`);
    return usage ? EXIT.usage : EXIT.failed;
  }
}

/** The command with the longest name that the words begin with: "agent install" before a command "agent". */
function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands
    .filter(({ name }) => name.split(" ").every((word, index) => words[index] === word))
    .sort((a, b) => b.name.length - a.name.length)[0];
}

function withoutCommand(commands: readonly Command[], words: readonly string[], io: Io): number {
  const [first] = words;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  const asked = words.some((word) => word === "--help" || word === "-h") || first === "help";
  const help = overview(group.length > 0 ? group : commands);
  if (asked) {
    io.out(help);
    return EXIT.ok;
  }
  if (first === undefined || group.length > 0) io.err(help);
  // The error comes last: the list of commands would push it off the screen.
  if (first !== undefined)
    io.err(`edgecall: there is no command "${words.join(" ")}"; ${hint(commands, words)}\n`);
  return EXIT.usage;
}

function hint(commands: readonly Command[], words: readonly string[]): string {
  const typed = words.filter((word) => !word.startsWith("-"));
  const names = commands.map(({ name }) => name);
  const groups = names.flatMap((name) => (name.includes(" ") ? [name.split(" ")[0] ?? ""] : []));
  const [first = ""] = typed;
  // Further words may be arguments: "aks Is it warm?" means "ask".
  const meant = closest(typed.slice(0, 2).join(" "), names) ?? closest(first, [...names, ...groups]);
  if (meant === first) return `there are ${names.filter((name) => name.startsWith(`${first} `)).join(", ")}`;
  return meant ? `did you mean "${meant}"?` : "edgecall --help lists them";
}

/** @throws UsageError */
function readCall(command: Command, words: string[], env: CommandCall["env"], io: Io): CommandCall {
  const { values, positionals } = parsed(command, words);
  if (command.takes === undefined && positionals.length > 0) {
    throw new UsageError(`takes nothing but options, and got "${positionals.join(" ")}"`);
  }
  return {
    positionals,
    text: (option) => {
      const value = values[option];
      return typeof value === "string" ? value : undefined;
    },
    flag: (option) => values[option] === true,
    env,
    io,
  };
}

function parsed(command: Command, words: string[]) {
  const options = Object.entries(command.options).map(([name, { value, short }]) => [
    name,
    { type: value === undefined ? "boolean" : "string", ...(short && { short }) } as const,
  ]);
  try {
    return parseArgs({
      args: words,
      options: { ...Object.fromEntries(options), help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    }) as { values: Record<string, string | boolean | undefined>; positionals: string[] };
  } catch (error) {
    throw new UsageError(fileProblem(error));
  }
}
