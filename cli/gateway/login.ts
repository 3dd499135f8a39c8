/** `edgecall login` tries the gateway's address and a token, and then stores them. */

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { forgetConnection, gatewayUrl, isOpenlySent, keepConnection, wellFormed } from "./connection.ts";
import { Gateway } from "./gateway.ts";
import { printableLine } from "./printable.ts";
import { Status } from "./shapes.ts";

export async function login({ positionals, flag, env, io }: CommandCall): Promise<number> {
  if (flag("forget")) {
    io.err(`${forgetConnection(env)} is gone; the token itself is still good\n`);
    return EXIT.ok;
  }
  const [address, ...more] = positionals;
  const wanted = address ?? env.EDGECALL_URL;
  if (!wanted || more.length > 0)
    throw new UsageError("the gateway's address is missing, or is more than one");
  const url = gatewayUrl(wanted);
  if (isOpenlySent(url)) io.err(`${url} is not https: whoever is on the way can read the token\n`);
  const given = await readToken(io.person, env);
  if (given.trim() === "") throw new Error("no token was given; nothing was kept");
  const token = wellFormed(given, "the token");
  const { home } = await new Gateway({ url, token }).json(Status, "GET /v1/status");
  const file = keepConnection(env, { url, token });
  io.err(`signed in to ${url}, home '${printableLine(home)}'; kept in ${file}\n`);
  const over = ["EDGECALL_URL", "EDGECALL_TOKEN"].filter((name) => env[name]);
  if (over.length > 0) io.err(`${over.join(" and ")} in the environment still win over it\n`);
  return EXIT.ok;
}

/** The token is never an argument: everybody on the machine can see those, and the shell stores them. */
async function readToken(person: boolean, env: CommandCall["env"]): Promise<string> {
  if (person) return await askUnseen();
  if (process.stdin.isTTY === true) throw new UsageError("nobody can be asked for the token: pipe it in");
  return (await readAll(process.stdin)) || (env.EDGECALL_TOKEN ?? "");
}

function askUnseen(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  // The prompt comes only now: until the reader is ready, the terminal would show what is typed or pasted.
  process.stderr.write("token (it is not shown): ");
  return new Promise((resolve, reject) => {
    const end = () => {
      process.stderr.write("\n");
      reader.close();
    };
    reader.on("SIGINT", () => {
      end();
      reject(new Error("given up; nothing was kept"));
    });
    reader.on("close", () => reject(new Error("no token; nothing was kept")));
    reader.question("", (token) => {
      resolve(token);
      end();
    });
  });
}
