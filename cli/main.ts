#!/usr/bin/env node
/** The program `edgecall`, for people, scripts and service managers. */
import { COMMANDS } from "./commands.ts";
import { runCommandLine } from "./run-command-line.ts";

// It is no error when the reader stops reading (`| head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// The exit code is set, without an exit, so that everything written still reaches a pipe.
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
