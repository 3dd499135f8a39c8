import { jsonSchema } from "../protocol/parse.ts";
import type { Tool } from "./contract.ts";
import { schemaForModels } from "./schema-for-models.ts";

/** A tool's definition for an OpenAI-compatible endpoint. */
export type ToolDefinition = {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown>; strict?: true };
};

/** @param schema of its arguments, whole: a model gets the form that every endpoint takes */
export function toolDefinition(
  name: string,
  description: string,
  schema: Readonly<Record<string, unknown>>,
): ToolDefinition {
  return { type: "function", function: { name, description, parameters: schemaForModels(schema) } };
}

/**
 * An immutable set of tools, sorted by name, so that the same tools make the same list and the provider's prompt cache
 * works. A later tool replaces an earlier one of the same name.
 */
export class ToolRegistry {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #unlisted: ReadonlyMap<string, Tool>;

  /** @param unlisted tools that `get` finds but no list shows: older versions, as `name@version` */
  constructor(tools: Iterable<Tool> = [], unlisted: ReadonlyMap<string, Tool> = new Map()) {
    this.#unlisted = unlisted;
    const byName = new Map<string, Tool>();
    for (const tool of tools) byName.set(tool.name, tool);
    this.#tools = new Map([...byName].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  /** Returns a new registry that also has this tool. */
  register(tool: Tool): ToolRegistry {
    return new ToolRegistry([...this.#tools.values(), tool], this.#unlisted);
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name) ?? this.#unlisted.get(name);
  }

  list(): string[] {
    return [...this.#tools.keys()];
  }

  count(): number {
    return this.#tools.size;
  }

  all(): Tool[] {
    return [...this.#tools.values()];
  }

  /** Returns one line for each tool, for people: "- `name` - description". */
  summaries(): string[] {
    return this.all().map((tool) => `- \`${tool.name}\` - ${tool.description}`);
  }

  definitions(): ToolDefinition[] {
    return this.all().map(({ name, description, input }) =>
      toolDefinition(name, description, jsonSchema(input)),
    );
  }
}
