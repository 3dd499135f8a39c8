/** The bridge of floor 2: `node bridge.ts WEBSOCKET_URL MQTT_URL`. It only forwards, in both directions. */
import { WebSocket } from "ws";
import { connectBroker } from "./broker-client.ts";
import { FLOOR_COMMANDS, type FloorCommand, type FloorReport, floorReports } from "./topics.ts";

const [gatewayUrl = "", mqttUrl = ""] = process.argv.slice(2);
const socket = new WebSocket(gatewayUrl, { perMessageDeflate: false });
const client = await connectBroker(mqttUrl, (message) => socket.send(message.toString()));
await client.subscribeAsync(floorReports("bridge"), { qos: 1 });

socket.on("message", (message) => {
  const { id, payload } = JSON.parse(message.toString()) as FloorReport;
  const command: FloorCommand = { id, asker: "bridge", payload };
  client.publish(FLOOR_COMMANDS, JSON.stringify(command), { qos: 1 });
});
