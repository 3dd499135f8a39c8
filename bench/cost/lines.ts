/** What the counted Worker writes to its log, one JSON a line: all that Cloudflare bills. */

export type Actor = "Home" | "Conversation";
/** How an object was reached. Each but a closing socket is a request; a message is a twentieth of one. */
export type Via = "rpc" | "fetch" | "message" | "alarm" | "close";

export type CostLine =
  /** A request to the Worker. */
  | { cost: "worker" }
  /** A request to an object, from its first moment (epoch ms) to its answer. */
  | { cost: "request"; of: Actor; via: Via; name: string; from: number; to: number }
  /** Work that goes on behind an answer and keeps the object awake. */
  | { cost: "work"; of: Actor; from: number; to: number }
  | { cost: "rows"; of: Actor; read: number; written: number; sql: string }
  /** An alarm was set, which is a row written; or it begins to run. */
  | { cost: "alarm"; of: Actor; did: "set" | "runs" }
  /** How large the object's database is. */
  | { cost: "size"; of: Actor; bytes: number };

/** A line of the log, or undefined: it is one of the Worker's own. */
export function readCostLine(text: string): CostLine | undefined {
  // SAFETY: nothing else in the Worker's log begins so; counted-worker.ts writes it.
  return text.startsWith('{"cost":') ? (JSON.parse(text) as CostLine) : undefined;
}
