import { jsonSchema } from "../protocol/parse.ts";
import type { Tool } from "./contract.ts";

/** A tool as an OpenAI-compatible endpoint is told of it. */
export type ToolDefinition = {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown>; strict?: true };
};

/**
 * An immutable set of tools, sorted by name: the same tools make the same list, which keeps a provider's
 * prompt cache warm. A later tool of the same name replaces the earlier one.
 */
export class ToolRegistry {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #unlisted: ReadonlyMap<string, Tool>;

  /** @param unlisted found by `get` and offered nowhere: older versions, as `name@version` */
  constructor(tools: Iterable<Tool> = [], unlisted: ReadonlyMap<string, Tool> = new Map()) {
    this.#unlisted = unlisted;
    const byName = new Map<string, Tool>();
    for (const tool of tools) byName.set(tool.name, tool);
    this.#tools = new Map([...byName].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  /** A new registry with this tool in it. */
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

  /** One line a tool, for people: "- `name` - description". */
  summaries(): string[] {
    return this.all().map((tool) => `- \`${tool.name}\` - ${tool.description}`);
  }

  definitions(): ToolDefinition[] {
    return this.all().map((tool) => ({
      type: "function",
      function: {
        name: tool.name,
        description: tool.description,
        parameters: jsonSchema(tool.input),
      },
    }));
  }
}
