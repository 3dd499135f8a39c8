/** mqtt-io (PyPI): a board's outputs and inputs, here of its own test modules. It has words of its own for being there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PUBLISHERS } from "../needs.ts";
import type { BrokerView } from "./broker-view.ts";
import { type Publisher, Running } from "./running.ts";

const TOPICS = /\/mqtt-io-/;
const OUTPUTS = [{ name: "garage_relay" }, { name: "pump", ha_discovery: { device_class: "outlet" } }];

function settings(port: number) {
  return {
    mqtt: {
      host: "127.0.0.1",
      port,
      topic_prefix: "pihome",
      ha_discovery: { enabled: true, name: "Boiler room Pi" },
    },
    gpio_modules: [{ name: "sim", module: "mock" }],
    sensor_modules: [{ name: "mocksens", module: "mock" }],
    digital_outputs: OUTPUTS.map((output, pin) => ({
      ...output,
      module: "sim",
      pin,
      publish_initial: true,
      initial: "low",
    })),
    digital_inputs: [
      // It stays as it is, so that nobody hears of it later.
      {
        name: "float_switch",
        module: "sim",
        pin: 9,
        retain: true,
        ha_discovery: { device_class: "moisture" },
      },
    ],
    sensor_inputs: [
      {
        name: "boiler_temp",
        module: "mocksens",
        interval: 2,
        ha_discovery: { device_class: "temperature", unit_of_measurement: "°C" },
      },
    ],
  };
}

export async function startMqttIo(port: number, view: BrokerView): Promise<Publisher> {
  const running = new Running("mqtt-io", (folder) => {
    // YAML has JSON within it.
    writeFileSync(join(folder, "mqtt-io.yml"), JSON.stringify(settings(port)));
    return { command: [PUBLISHERS, "-m", "mqtt_io", "mqtt-io.yml"] };
  });
  await running.ready(() => view.configs().filter(({ topic }) => TOPICS.test(topic)).length === 4);
  return { name: running.name, topics: TOPICS, stop: () => running.stop() };
}
