/** `edgecall waiting` shows what waits for a person, and puts each to the person at the terminal. */

import { z } from "@edgecall/core/protocol/parse.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { askPerson, questionText } from "./ask-person.ts";
import { readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";
import { paintFor } from "./paint.ts";
import { Question } from "./shapes.ts";

const Open = z.looseObject({ questions: z.array(Question), total: z.number() });

/** Exit code 0: nothing waits any more, or it was listed; 1: something was not answered. */
export async function waiting(call: CommandCall): Promise<number> {
  const { positionals, env, io } = call;
  if (positionals.length > 0) throw new UsageError("takes no names");
  const gateway = new Gateway(readConnection(env));
  const open = await gateway.json(Open, "GET /v1/questions");
  if (call.flag("json")) {
    io.out(`${JSON.stringify(open)}\n`);
    return EXIT.ok;
  }
  const paint = paintFor(io.watched, env);
  if (open.questions.length === 0) io.out("nothing waits for you\n");
  if (!io.person) {
    for (const question of open.questions) io.out(questionText(question, paint));
    return EXIT.ok;
  }
  const given = new AbortController();
  const terminal = {
    ...{ input: process.stdin, output: process.stderr, paint },
    onInterrupt: () => given.abort(),
  };
  let left = 0;
  for (const question of open.questions) {
    const answer = given.signal.aborted ? undefined : await askPerson(question, terminal, given.signal);
    if (answer === undefined || !(await answered(gateway, question.id, answer, io.err))) left += 1;
  }
  return left === 0 ? EXIT.ok : EXIT.failed;
}

async function answered(
  gateway: Gateway,
  id: string,
  answer: string,
  say: (text: string) => void,
): Promise<boolean> {
  try {
    await gateway.text("POST /v1/questions/{id}", { path: { id }, body: { answer } });
    return true;
  } catch (error) {
    // Somebody else may have answered it meanwhile.
    say(`not answered: ${messageOf(error)}\n`);
    return false;
  }
}
