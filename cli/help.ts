/** Makes the help of `edgecall` from the table of commands. */
import type { Command } from "./command.ts";

/** Lists all commands, one a line. */
export function overview(commands: readonly Command[]): string {
  const lines = commands.map((command) => [`edgecall ${withArguments(command)}`, command.about] as const);
  return `usage:\n${columns(lines)}\nedgecall COMMAND --help tells what a command takes\n`;
}

export function commandHelp(command: Command): string {
  const options = Object.entries(command.options).map(([name, { value, short, about }]) => {
    const flag = `${short ? `-${short}, ` : ""}--${name}${value === undefined ? "" : ` ${value}`}`;
    return [flag, about] as const;
  });
  const lines = [...options, ["-h, --help", "show this"] as const];
  return `usage: edgecall ${withArguments(command)} [options]\n\n${command.about}\n\n${columns(lines)}`;
}

function withArguments({ name, takes }: Command): string {
  return takes === undefined ? name : `${name} ${takes}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}
