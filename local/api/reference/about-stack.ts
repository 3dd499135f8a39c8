/** The environment of `edgecall` and of the one-machine stack, for docs/reference/settings.md. local/settings.ts and local/network.ts read it. */
export type Row = { about: string; standard: string };

export const COMMAND_LINE: Readonly<Record<string, Row>> = {
  EDGECALL_URL: { standard: "of `edgecall login`", about: "The gateway's address." },
  EDGECALL_TOKEN: {
    standard: "of `edgecall login`",
    about: "An API token. The kept one is used only for the kept address.",
  },
  XDG_CONFIG_HOME: {
    standard: "`~/.config`",
    about: "Address and token are in `edgecall/config.json` below it, which only you can read.",
  },
  NO_COLOR: { standard: "–", about: "No colours." },
};

export const STACK: Readonly<Record<string, Row>> = {
  PORT: { standard: "8787", about: "The gateway's port. With `--ask`, any free one is the default." },
  HOST: {
    standard: "127.0.0.1",
    about:
      "An address of this machine, or `0.0.0.0` for all: the gateway answers [in the network](../guides/home-without-cloudflare.md) too.",
  },
  TLS_CERT: {
    standard: "–",
    about:
      "A file with a certificate. With it and its key, the network gets TLS at `TLS_PORT`, and nothing else.",
  },
  TLS_KEY: { standard: "–", about: "The file with the certificate's key." },
  TLS_PORT: { standard: "8443", about: "The port for TLS." },
  TELEGRAM_POLLING: {
    standard: "`on`, unless `PUBLIC_URL` is an `https:` address",
    about:
      "`on`: Telegram's messages are [fetched](../using/chat-apps.md#telegram). `off`: webhooks bring them. `npm run worker` has `off`.",
  },
  EDGECALL_DIR: {
    standard: "`.edgecall/`",
    about:
      "The state, kept over restarts: a turn in flight continues. Without a checkout `$XDG_STATE_HOME/edgecall` (`~/.local/state/edgecall`). One gateway has it at a time.",
  },
  UPGRADE_COPY: {
    standard: "`yes`",
    about: "`no`: no [copy of the state](../guides/upgrade.md) before a newer minor version writes to it.",
  },
  EDGECALL_TOKEN: { standard: "generated, kept, printed", about: "Your token, 16 to 256 characters." },
  MQTT_URL: {
    standard: "the embedded broker",
    about: "The broker. Paired devices are told it, without user and password.",
  },
  MQTT_USERNAME: {
    standard: "–",
    about: "For that broker. Bridge and agent get it, as `MQTT_PASSWORD` and `MQTT_CA`.",
  },
  LLM_BASE_URL: {
    standard: "none: [plain sentences](../using/sentences.md) alone",
    about: "For the gateway and the agent, as `LLM_API`, `LLM_API_KEY` and `LLM_MODEL`.",
  },
};
