/** Waits until each program of the stack is connected. */
import { cutText } from "@edgecall/core/text/cut.ts";
import { waitPatiently } from "./patience.ts";
import type { Child } from "./supervisor.ts";

/** Characters of a program's last line. */
const LINE_CHARS = 200;

export type Starting = {
  children: Record<string, Pick<Child, "ready">>;
  /** Host and port of a broker that is not this stack's own. */
  foreignBroker: string | undefined;
  /** The last line that a program wrote. */
  lastLine(name: string): string | undefined;
  /** A line for a person who waits. */
  say(line: string): void;
};

/** @throws when a program ended before, or after five minutes */
export async function allReady({ children, foreignBroker, lastLine, say }: Starting): Promise<void> {
  const waiting = new Set(Object.keys(children));
  const each = Object.entries(children).map(async ([name, { ready }]) => {
    await ready;
    waiting.delete(name);
  });
  const missing = () => {
    // The Worker needs no broker, and the others wait for the Worker.
    const advice =
      foreignBroker === undefined || waiting.has("worker") ? "" : `; is there a broker at ${foreignBroker}?`;
    const lines = [...waiting].flatMap((name) => {
      const line = lastLine(name);
      return line === undefined ? [] : [`\n  ${name} wrote last: ${cutText(line, LINE_CHARS)}`];
    });
    return `not connected: ${[...waiting].join(", ")}${advice}${lines.join("")}`;
  };
  await waitPatiently(Promise.all(each), { missing, say });
}
