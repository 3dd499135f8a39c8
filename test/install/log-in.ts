/** `node log-in.ts URL [USER PASSWORD]`: logs in at a broker; exit code 0 on success. */
import { connect } from "mqtt";

const [url = "", username, password] = process.argv.slice(2);
const client = connect(url, {
  reconnectPeriod: 0,
  ...(username && { username }),
  ...(password && { password }),
});
client.on("connect", () => process.exit(0));
client.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
client.on("close", () => process.exit(1));
