/**
 * This file alone decides who may see and answer what inside a home, so that it can be reviewed alone; docs/explain/security.md
 * has the same as a table.
 *
 * Everything belongs to a principal: the name of the token that asked, or the sender of a chat app
 * (`telegram:123`). A person keeps what is theirs when their token is replaced by one of the same name.
 */
import type { Scope } from "../settings/tokens.ts";

/** The one who asks: the record of a token, or a person in a chat in the same form. @property displayName as the chat app gave it */
export type Viewer = {
  name: string;
  role: "owner" | "member" | "guest";
  scopes: readonly Scope[];
  displayName?: string;
};

export type Owned = {
  /**
   * `conversation`: its turns, events, pictures and plain questions. `approval`: what a device wants to run.
   * `result`: what a command brought back; with `words` the command was a question in words, which takes `ask` alone.
   */
  kind: "conversation" | "approval" | "result" | "words";
  /** The principal that began it; undefined: nobody knows (a file of a call that a version before 0.3 kept). */
  by: string | undefined;
  /** Principals with whom it was shared by name. */
  sharedWith?: readonly string[];
};

const NEEDS: Record<Owned["kind"], Scope> = {
  conversation: "ask",
  approval: "ask",
  result: "command",
  words: "ask",
};

/** Owners and administrators may look at everything of their home. */
export function seesAll({ role, scopes }: Viewer): boolean {
  return role === "owner" || scopes.includes("admin");
}

export function maySee(viewer: Viewer, { kind, by, sharedWith = [] }: Owned): boolean {
  if (!viewer.scopes.includes(NEEDS[kind])) return false;
  if (seesAll(viewer)) return true;
  if (kind === "approval" && !viewer.scopes.includes("approve")) return false;
  return viewer.name === by || sharedWith.includes(viewer.name);
}

/**
 * What a model writes to by itself, and whose turns it may end: of owners and administrators too, only what is theirs or was shared
 * with them by name. A text that a model read may have told it to.
 */
export function mayUse(viewer: Viewer, owned: Owned): boolean {
  return maySee({ ...viewer, role: "guest", scopes: ["ask"] }, owned);
}

/** An approval takes `approve`, whoever asks: a program that acts for an owner does not have it. */
export function mayAnswer(viewer: Viewer, owned: Owned): boolean {
  return maySee(viewer, owned) && (owned.kind !== "approval" || viewer.scopes.includes("approve"));
}

/** Sharing, renaming and deleting are for whoever began it, not for those with whom it was shared. */
export function mayManage(viewer: Viewer, { kind, by }: Owned): boolean {
  return maySee(viewer, { kind, by });
}
