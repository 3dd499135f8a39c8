/** The commands of docs/reference/cli.md, of the table that `edgecall --help` prints. */
import type { Command } from "@edgecall/cli/command.ts";
import { COMMANDS } from "@edgecall/cli/commands.ts";
import { code, table } from "./regions.ts";

export function cliSections(): Record<string, string> {
  return { commands: COMMANDS.map(sectionOf).join("\n\n") };
}

function sectionOf({ name, about, takes, options }: Command): string {
  const rows = Object.entries(options).map(([option, { value, short, about: what }]) => [
    code(`${short ? `-${short}, ` : ""}--${option}${value === undefined ? "" : ` ${value}`}`),
    what,
  ]);
  const sentence = `${about[0]?.toUpperCase()}${about.slice(1)}.`;
  const heading = `## ${code(`edgecall ${name}`)}`;
  const usage = takes === undefined ? [] : [code(`edgecall ${name} ${takes}`)];
  return [heading, ...usage, sentence, ...(rows.length > 0 ? [table(["option", ""], rows)] : [])].join(
    "\n\n",
  );
}
