/**
 * Leaves out the arguments that a tool does not have: programs between model and server add their own to every call (n8n: `toolCallId`,
 * `sessionId`, `chatInput`). The result names them, since a model may have meant one of them. Those that the tool has keep their own checks.
 */
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { aliasesOfOwnTool } from "@edgecall/core/tools/own-names.ts";
import type { CallToolResult } from "./protocol.ts";

/** The note names so many of the ignored names, with so many characters of each. */
const NAMES_MAX = 10;
const NAME_MAX_CHARS = 64;

type Arguments = Record<string, unknown>;

export type KnownArguments = { args: Arguments; ignored: string[] };

export function knownArguments(input: Tool["input"], args: Arguments): KnownArguments {
  const own = new Set(Object.keys(jsonSchema(input).properties ?? {}));
  return split(args, (name) => own.has(name));
}

/** Names that n8n adds to the arguments of each call. */
const INJECTED: ReadonlySet<string> = new Set(["toolCallId", "sessionId", "chatInput"]);

/**
 * A device refuses names that its schema does not have where the schema says so (`additionalProperties: false`), so those are left out. A
 * schema that takes others may mean any name but those that are known to be added.
 */
export function knownParameters({ name, parameters }: ActionAdvert, args: Arguments): KnownArguments {
  const { properties, additionalProperties, patternProperties } = parameters;
  const declared = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const known = new Set([...declared, ...aliasesOfOwnTool(name)]);
  const isClosed = additionalProperties === false && patternProperties === undefined;
  return split(args, (given) => known.has(given) || !(isClosed || INJECTED.has(given)));
}

function split(args: Arguments, isKnown: (name: string) => boolean): KnownArguments {
  const ignored = Object.keys(args).filter((name) => !isKnown(name));
  if (ignored.length === 0) return { args, ignored };
  return { args: Object.fromEntries(Object.entries(args).filter(([name]) => isKnown(name))), ignored };
}

/** Adds the note to a result. A name is quoted: it is the client's text. */
export function withNote(result: CallToolResult, ignored: readonly string[]): CallToolResult {
  // A call that is to be sent again says it then.
  if (ignored.length === 0 || result.resultType === "input_required") return result;
  const names = ignored.slice(0, NAMES_MAX).map((name) => JSON.stringify(name.slice(0, NAME_MAX_CHARS)));
  const more = ignored.length > NAMES_MAX ? ` and ${ignored.length - NAMES_MAX} more` : "";
  const text = `Note: this tool has no argument ${names.join(", ")}${more}; ignored.`;
  return { ...result, content: [...result.content, { type: "text", text }] };
}
