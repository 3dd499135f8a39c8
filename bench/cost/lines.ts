/** The log lines of the counted Worker, one JSON object each: everything that Cloudflare bills. */

export type Actor = "Home" | "Conversation";
/** The ways to reach an object. Each except a closing socket is a request; a message is a twentieth of one. */
export type Via = "rpc" | "fetch" | "message" | "alarm" | "close";

export type CostLine =
  /** A request to the Worker. */
  | { cost: "worker" }
  /** A request to an object, from its start (epoch ms) to its answer. */
  | { cost: "request"; of: Actor; via: Via; name: string; from: number; to: number }
  /** Work that continues after an answer and keeps the object awake. */
  | { cost: "work"; of: Actor; from: number; to: number }
  | { cost: "rows"; of: Actor; read: number; written: number }
  /** An alarm was set, which is a written row, or starts to run. */
  | { cost: "alarm"; of: Actor; did: "set" | "runs" }
  /** The size of the object's database. */
  | { cost: "size"; of: Actor; bytes: number };

/** Parses a line of the log; undefined: a line of the Worker itself. */
export function readCostLine(text: string): CostLine | undefined {
  // SAFETY: only counted-worker.ts writes lines that begin like this.
  return text.startsWith('{"cost":') ? (JSON.parse(text) as CostLine) : undefined;
}
