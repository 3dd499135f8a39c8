/** Where the service's files are. */

/** The agent's settings: root writes them, the service's user reads them. */
export const SETTINGS_FILE = "/etc/edgecall/agent.toml";
