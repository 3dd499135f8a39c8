/** The device of both floors: `node echo.ts MQTT_URL`. Answers each command with its own payload. */
import { connectBroker } from "./broker-client.ts";
import { FLOOR_COMMANDS, type FloorCommand, type FloorReport, floorReports } from "./topics.ts";

const client = await connectBroker(process.argv[2] ?? "", (message) => {
  const { id, asker, payload } = JSON.parse(message.toString()) as FloorCommand;
  client.publish(floorReports(asker), JSON.stringify({ id, payload } satisfies FloorReport), { qos: 1 });
});
await client.subscribeAsync(FLOOR_COMMANDS, { qos: 1 });
