/** The environment of the bridge: settings.ts reads it by this table, and docs/reference/settings.md prints it. */
import { DEFAULT_TOPIC_PREFIX } from "@edgecall/core/protocol/names.ts";

type BridgeVariableEntry = {
  about: string;
  /** The value without the variable. */
  default?: string;
  /** The same in words, where it depends on something else. */
  standard?: string;
  /** It may be in a file, which NAME_FILE names. */
  secret?: true;
};

export const BRIDGE_VARIABLES = {
  GATEWAY_URL: {
    about: "The gateway's address, `https://…`, or plain `http://` on this machine.",
    standard: "required, or paired",
  },
  BRIDGE_TOKEN: {
    about: "This home's bridge token. It wins over a key.",
    standard: "required, or paired",
    secret: true,
  },
  BRIDGE_STATE: {
    about:
      "The folder of `key.json` and `gateway.json`, which pairing writes, and of [devices of the broker](#devices-of-the-broker).",
    standard: "systemd's `STATE_DIRECTORY`",
  },
  MQTT_URL: {
    about:
      "The broker; `mqtts://` for TLS. `off`: none, for a home whose devices are all [Home Assistant's](../guides/home-assistant.md).",
    default: "mqtt://127.0.0.1:1883",
  },
  MQTT_USERNAME: {
    about: "The bridge's user at the broker.",
    standard: "none; its own with `BROKER_FILES`",
  },
  MQTT_PASSWORD: { about: "The password of that user.", secret: true },
  MQTT_CA: {
    about: "PEM file of the authority that signed the broker's certificate.",
    standard: "`SSL_CERT_FILE`, the usual places of a system, Node's own list",
  },
  TOPIC_PREFIX: { about: "How every topic begins.", default: DEFAULT_TOPIC_PREFIX },
  BROKER_FILES: {
    about: "The folder of a Mosquitto whose logins the bridge [writes](#a-brokers-logins).",
  },
  MQTT_DEVICES: {
    about:
      "Whether devices that describe themselves on the broker [are agents](#devices-of-the-broker): `off`, `read` or `allow`.",
    standard: "`allow` at a broker of your own, else `off`",
  },
  MQTT_DEVICES_PREFIX: { about: "The prefix of the topics where they do so.", default: "homeassistant" },
  MQTT_DEVICES_DANGER: {
    about:
      "Words with commas between them. A device or action with one in its name asks a person each time, as those of a built-in list do.",
  },
  MQTT_DEVICES_BIRTH: {
    about:
      "`on`: after its start the bridge publishes `online` on `homeassistant/status` once, as Home Assistant does, so that publishers send again.",
    default: "off",
  },
  MQTT_HISTORY: {
    about:
      "For how many days the bridge keeps what devices report ([history](../using/history.md)), in at most 200 MB of its folder; `off`: not at all.",
    default: "400",
  },
  HA_URL: {
    about:
      "The address of a [Home Assistant](../guides/devices.md#from-home-assistant) whose devices are agents too: `http://HOST:8123`. A sign-in in the console needs neither this nor a token.",
  },
  HA_TOKEN: {
    about:
      "A long-lived token of a user of it who is no administrator. Its file is read again at each connect.",
    secret: true,
  },
  HA_DEVICES: {
    about:
      "Whether its devices are agents, as `MQTT_DEVICES` for those of the broker: `off`, `read` or `allow`.",
    default: "allow",
  },
  HA_FIRST: {
    about: "`on`: a device that is on the broker too is Home Assistant's.",
    default: "off",
  },
  HA_PEOPLE: {
    about:
      "Entity ids of `person` and `device_tracker`, with commas between them, that are agents too: each tells whether somebody is at home, and nothing else.",
    standard: "none",
  },
  PLACE: {
    about:
      "The home's latitude and longitude in degrees, like `52.5, 13.4`, for rules that act at sunrise or sunset. 0.1 degrees are enough.",
    standard: "none",
  },
  PRESENCE: {
    about:
      "What says who is at home, for [rules that act](../using/automations.md): `NAME=SOURCE`, with commas between them. A source is an entity of Home Assistant (`person.anna`, `device_tracker.anna`, `binary_sensor.hall`), `ping:HOST`, or `DEVICE:READING`. None of it is shown to models.",
    standard: "none",
  },
  HEALTH_PORT: { about: "The port of `/healthz`, `/readyz` and `/metrics`; 0: none.", default: "8788" },
  // Loopback, since /readyz would tell a stranger which home is down.
  HEALTH_HOST: { about: "Where it listens.", default: "127.0.0.1" },
  BRIDGE_ID: { about: "Names it in logs and to the broker.", standard: "the host's name" },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about: "The OpenTelemetry collector for [traces](../guides/traces.md). Without it nothing is traced.",
  },
  OTEL_EXPORTER_OTLP_HEADERS: { about: "Headers for the collector.", secret: true },
  LOG_LEVEL: { about: "`debug`: more lines.", default: "info" },
} as const satisfies Readonly<Record<string, BridgeVariableEntry>>;

export type BridgeVariable = keyof typeof BRIDGE_VARIABLES;
