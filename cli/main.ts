#!/usr/bin/env node
/** `edgecall`: the program on the command line, for people, scripts and service managers. */
import { COMMANDS } from "./commands.ts";
import { runCommandLine } from "./run-command-line.ts";

// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// Set rather than exited with: what was written must still reach a pipe.
void runCommandLine(COMMANDS, process.argv.slice(2), process.env, {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  terminal: process.stdout.isTTY === true,
  width: process.stdout.columns,
  watched: process.stderr.isTTY === true,
  person: process.stdin.isTTY === true && process.stderr.isTTY === true,
}).then((code) => {
  process.exitCode = code;
});
