/** lnxlink (PyPI): a Linux machine's figures and buttons. All machines share a node id, and a button's payload is a shell command. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PUBLISHERS } from "../needs.ts";
import type { BrokerView } from "./broker-view.ts";
import { type Publisher, Running } from "./running.ts";

const MACHINE = "media-box";
const AWAITED = ["cpu_usage", "shutdown", "bash_case_fan"];

export type Lnxlink = Publisher & {
  /** True if its button "Shutdown" was pressed. */
  wasShutDown(): boolean;
};

function settings(port: number, folder: string) {
  const fan = join(folder, "fan");
  writeFileSync(fan, "off");
  const auth = { user: "", pass: "", tls: false, keyfile: "", certfile: "", ca_certs: "" };
  return {
    mqtt: {
      transport: "mqtt",
      prefix: "lnxlink",
      clientId: MACHINE,
      server: "127.0.0.1",
      port,
      auth,
      discovery: { enabled: true, prefix: "homeassistant" },
      lwt: { enabled: true, qos: 1 },
      clear_on_off: false,
    },
    update_interval: 1,
    update_on_change: false,
    modules: ["cpu", "memory", "logging_level", "shutdown", "bash"],
    custom_modules: null,
    // It reports to its authors.
    exclude: ["statistics"],
    settings: {
      // Its default switches this machine off.
      shutdown: { command: `touch '${join(folder, "shutdown")}'`, command_timeout: 5 },
      bash: {
        allow_any_command: false,
        expose: [
          {
            name: "Case fan",
            type: "switch",
            command: `cat '${fan}'`,
            command_on: `printf on >'${fan}'`,
            command_off: `printf off >'${fan}'`,
          },
        ],
      },
    },
  };
}

export async function startLnxlink(port: number, view: BrokerView): Promise<Lnxlink> {
  const running = new Running("lnxlink", (folder) => {
    // YAML has JSON within it.
    writeFileSync(join(folder, "lnxlink.yaml"), JSON.stringify(settings(port, folder)));
    // Without its question about a service of systemd.
    return { command: [PUBLISHERS, "-m", "lnxlink", "-i", "-c", join(folder, "lnxlink.yaml")] };
  });
  await running.ready(() => {
    const topics = view.configs().map(({ topic }) => topic);
    return AWAITED.every((name) => topics.some((topic) => topic.includes(`/${MACHINE}_${name}/`)));
  });
  return {
    name: running.name,
    topics: /\/lnxlink\//,
    wasShutDown: () => existsSync(join(running.folder, "shutdown")),
    stop: () => running.stop(),
  };
}
