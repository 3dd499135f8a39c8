/**
 * The names of edgecall's own device tools, and of those of EvoClaw's agent. The gateway does not take them for words of a stranger in an advert
 * (worker/kernel/home/agents/advert-text.ts), so a tool that is missing here taints until an owner accepts its name.
 */
const OWN_TOOLS: ReadonlySet<string> = new Set(
  `append apply_patch bash browser canvas codesearch cpu disk edit find git_branch git_commit git_diff git_log git_status
  glob gpio_list gpio_read gpio_write grep i2c_detect image jobs journal list_processes ls memory network_info nodes ping
  question read read_cpu_usage read_disk read_file read_memory read_temperature safe_exec services skill snapshot
  system_info task temperature todoread todowrite update_self webfetch websearch write`.split(/\s+/),
);

export function isOwnTool(name: string): boolean {
  return OWN_TOOLS.has(name);
}

/** Names of parameters that a tool of edgecall's own takes beside those of its schema (its `aliases`). */
const OWN_ALIASES = new Map<string, readonly string[]>([
  ["edit", ["file_path", "oldText", "newText", "old_text", "new_text", "replaceAll"]],
  ["grep", ["glob", "ignoreCase"]],
]);

export function aliasesOfOwnTool(name: string): readonly string[] {
  return OWN_ALIASES.get(name) ?? [];
}
